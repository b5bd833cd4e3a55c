// Package policy owns what a Mac lends and what it says of itself: the sharing
// document, the map from people of the cluster to local accounts, and the
// node-state document. Being a member is not being root: nobody runs anything
// here before a person here says so, and then never as root.
//
// The map has three kinds of lines: of a person (user@node), of all people of
// one member, and of all members, which is what pairing asks for. The line that
// says most closely who is meant counts. It belongs to one cluster: after
// joining another it is empty but for what was answered then. What is published
// says who is mapped; the names of local accounts stay in the database of the
// node and are told to administrators only.
//
// What it asks of others it declares itself: a Store, Documents, Accounts, and
// the power of package native. [Policy] decides; [Self] tells the cluster that
// this node wakes, sleeps, restarts, stops or leaves, before it does so.
package policy
