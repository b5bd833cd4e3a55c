// Package links says what of that over which a plan's ranks talk is gone, or is
// not what it was when their attempt began. A cable that was pulled, or negotiated
// its speed anew, takes with it what JACCL had set up on it, and JACCL itself would
// never notice: its ranks spin for ever.
//
// It holds rules only. It takes documents and the graph as they are now, and
// compares them with what was noted at the beginning.
package links
