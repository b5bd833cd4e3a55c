// Package gate decides what another node may have this one do.
//
// Every way in for other nodes, a method that they call or a kind of connection that
// they open, is a route: a row of the table in table.go that says who may use it, what
// proves it, and how much of it. A handler is made for a route and gets, in place of a
// node's name, a value that only the gate makes: that the caller is a member, the home
// of a job, the node that submitted it, the node where a rank runs, or the other end of
// a cable. What a caller merely claims opens nothing.
//
// It owns the table. It reads the roster and which document of a job counts. It
// publishes nothing.
package gate
