// Package simulate runs daemons on simulated Macs, and draws them: the Mac of a world on
// which one daemon runs ([Open], [Join]), what its scenario records in place of
// measurements, and a whole cluster's graph without any daemon ([Draw]). Nothing
// simulated is signed, or kept where a real machine keeps its state.
package simulate
