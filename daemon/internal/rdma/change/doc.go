// Package change holds the rules of one end's part in a change of a cable for
// RDMA. [Next] takes the record of that part and something that happened, and
// gives the new record and what is to be done about it. It does no I/O and takes
// no clock: times are arguments, and what the system has is told to it.
//
// Two ends change together or not at all, and nobody who could die decides for
// them. Each end keeps a record of its own, and what it says of itself only ever
// moves from planned to active, and from anywhere to undone. Whoever hears that
// the other end of the same change is undone goes back too; whoever has applied
// its part and hears that the other end is active is active as well; and whoever
// hears nothing for [DoubtWithin] goes back. So the ends agree whenever they hear
// of each other, whatever died in between, the node that began it among them.
//
// Going back is three-way, step by step: what is still as the change left it is
// put back, what is as it was before needs nothing, and the rest is somebody
// else's, is left, and is told.
//
// What the caller owes: it carries effects out in their order, [Save] durably
// before what follows it.
package change
