// Package multipath makes one connection out of several between the same two ends, one over
// each cable, as the copy of a model wants.
//
// Each end writes blocks, which are numbered by their offset, to whichever path takes one
// more: a slower path carries less. The other end puts them in order, and says how much it
// has read, and how much has come by this path. What a path that ends had still under way
// goes over the others, or over one that is added later; blocks that come twice are dropped.
// Without any path the connection lasts for a moment.
//
// What is under way and what waits for its order are bounded by the window, at both ends.
package multipath
