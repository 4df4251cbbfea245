from .make import robot_report as robot_report
from .summary import Report as Report
