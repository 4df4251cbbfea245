from .program import Instruction as Instruction
from .program import Program as Program
from .readers import BlockReader as BlockReader
from .residual_program import trace_substitution as trace_substitution
