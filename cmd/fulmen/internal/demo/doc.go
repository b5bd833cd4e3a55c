// Package demo runs a simulated cluster on this machine: one process that hosts
// the simulated world, and a real daemon for each Mac of it, each with a home
// folder of its own. It pairs the daemons over their public API, as people
// would, and looks at the cluster from each of them. It owns the processes: all
// end with it, whatever ends it.
//
// The programs that it starts are
//
//	fulmend world --scenario NAME --socket PATH --with-stdin
//	fulmend run --simulate NAME:MAC --world PATH
//
// The first writes one line of JSON to its standard output when Macs can be
// attached, {"macs": ["studio-1", ...]}, and ends when its standard input does;
// the others end when the world does.
package demo
