// Package discover owns where other nodes may be: it announces this node by
// DNS-SD, hears others, and keeps for each member the addresses to try. It
// trusts nobody: what it gives are candidates, of which the transport finds out
// by a handshake whose they are.
//
// The announcement says the protocol, an id that changes at midnight UTC and
// that only members can tell, and while Add a Mac is open that it is. The name
// of the instance is random and changes with each announcement. It goes out on
// Thunderbolt always, on networks where a member was met before, and everywhere
// but on VPNs and costly links while Add a Mac is open.
//
// It reads this node's and the members' network documents, the roster, verified
// paths and the configured peers, which others hand it, and publishes through
// [Finder]: candidates of members, strangers that want to pair, addresses of
// unknown owner, and networks that keep Macs from seeing each other.
//
// The rules are in state, which does no I/O and takes the time as a parameter;
// [Finder] is the shell that speaks to native.Discovery and resolves names.
package discover
