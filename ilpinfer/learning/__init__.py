"""Learning with constraints: rules and penalties from labelled sequences, models from few labels."""

from ilpinfer.learning.tau import TauChoice as TauChoice
from ilpinfer.learning.tau import TauRow as TauRow
from ilpinfer.learning.tau import TauSearch as TauSearch
from ilpinfer.learning.trade_off import CorpusFrontier as CorpusFrontier
from ilpinfer.learning.trade_off import Measures as Measures
from ilpinfer.learning.trade_off import TradeOff as TradeOff
from ilpinfer.learning.trade_off import corpus_frontier as corpus_frontier
