// Package cpace proves to two parties that they know the same short code, and
// to nobody else anything about it: CPACE-RISTR255-SHA512 of
// draft-irtf-cfrg-cpace-21, in the setting with an initiator and a responder,
// with the explicit confirmation of its section 10.4.
//
// Who guesses learns by each run whether one guess was right, and cannot test a
// second one offline. The run fails alike whether the code, the channel
// identifier, the session id or the associated data differ, so that a middleman
// who ends two connections is found too.
//
// It owns the computation only: messages are strings of bytes, and how many
// runs a code survives is decided by whoever holds the code.
package cpace
