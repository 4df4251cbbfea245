"""What every room stands on: errors, sentences, and what reads, writes or runs what is foreign."""
