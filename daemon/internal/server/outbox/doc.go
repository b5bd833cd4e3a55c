// Package outbox holds what one client has not read yet, so that whoever has
// something to say never waits for a client: messages are queued up to a bound,
// and sources, which know how to merge what they have not said yet, stand in
// the same queue once each and are asked when it is their turn.
package outbox
