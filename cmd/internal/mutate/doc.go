// Mutate puts one small fault at a time into the packages that hold rules, runs
// their tests, and tells which faults no test finds.
//
//	mutate [-n 300] [-seed N] [-in PACKAGE] [-only TEXT]
//
// The faults are sampled over all places where one can be put, each package's share
// by its lines, in an order that the seed gives. A fault that does not compile is
// none and the next takes its place. Those of equivalent.txt change nothing that
// anybody can see; they are not counted, each for the reason that stands there.
//
// The exit status is 1 where fewer than 92 % were found.
package main
