// Package wire is what the two ends of a copied folder say to each other.
//
// A frame is one byte that says what it is, a length of four bytes (big-endian)
// and that many bytes. The sender begins:
//
//	sender                                receiver
//	entries..., listed
//	                                      hash... (indices), hashed
//	hashes..., hashed
//	                                      want... (indices), wanted
//	for each: file, data..., end
//	sent
//	                                      thanks
//
// Either may say refused at any time, and that is its last word. An index
// counts the entries from 0. Everything but data is JSON, decoded strictly:
// unknown fields, values out of range and frames that are longer than they may
// be end the exchange. Whatever the other side claims, no more memory is taken
// than has arrived.
package wire
