// Package guard decides, from the Host and Origin headers alone, whether an
// HTTP request may be looked at at all. It is what keeps web pages out: a page
// of another site can make a browser connect to the loopback address, but it
// can choose neither header.
package guard
