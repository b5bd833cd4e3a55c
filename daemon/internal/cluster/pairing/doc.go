// Package pairing makes a Mac a member of a cluster by a short code that one of
// two Macs shows and a person types on the other, or by an invitation, a line
// with a long secret for a Mac without a screen.
//
// The exchange runs over a TLS connection in which both sides have shown their
// keys and nothing is trusted. CPace proves to both that the other one knows the
// secret, is the holder of the key that it has shown, and has the same
// connection, so that nobody is in between. Before that neither side tells, shows
// or stores anything of itself or the other. Then both give their cards, one of
// them signs the other into its roster, and that one takes the roster over. Who
// shows the code and who joins are independent, and so is who has dialled.
//
// It owns the secrets that count now (Book), with who failed to prove them, and
// the Macs that ask to be let in (Inbox). Secrets live in memory only: what is
// never written is in no backup, and after a restart a new one costs one click
// or one command, where the old one would let a Mac in. Whoever puts the parts
// together dials, signs, saves, and closes the connections.
package pairing
