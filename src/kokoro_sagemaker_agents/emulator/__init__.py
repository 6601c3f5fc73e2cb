"""A SageMaker endpoint on this machine, in front of any container; see `Emulator`.

Needs the extra `[emulator]`. What AWS documents or others measured is kept; what nobody has told is
marked so where it is decided (`bridge`, `mapping`). Nothing here was compared with live AWS.
"""

from .bridge import Settings
from .clock import Clock
from .emulator import Emulator
from .exchange import Counters
from .faults import FAULT_HEADER, Fault, FaultPlan, Kind, Place
from .signatures import Credentials

__all__ = [
    "FAULT_HEADER",
    "Clock",
    "Counters",
    "Credentials",
    "Emulator",
    "Fault",
    "FaultPlan",
    "Kind",
    "Place",
    "Settings",
]
