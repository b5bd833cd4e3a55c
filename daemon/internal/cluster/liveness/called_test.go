package liveness

import (
	"errors"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

func TestANameOutlivesADaemon(t *testing.T) {
	is := is.New(t)
	const studio, book = api.NodeID("j79r4zr55xd4ph64"), api.NodeID("cpv0cwypxp44qw0p")
	var saved []map[api.NodeID]string
	var full error
	save := func(names map[api.NodeID]string) error {
		if full == nil {
			saved = append(saved, names)
		}
		return full
	}
	known := func(names map[api.NodeID]string) Input {
		in := Input{Self: studio, Members: []api.Member{{Node: studio}, {Node: book}}}
		for node, name := range names {
			d := api.Document{Node: node, Kind: api.KindIdentity, Inc: 1, Seq: 1}
			is.NoErr(d.SetValue(api.Identity{Name: name}))
			in.report(d)
		}
		return in
	}
	c := NewCalled(nil, save)
	is.Equal(c.Derive(known(nil)).Name(studio), "mac-j79r")                               // there is no better one,
	is.Equal(c.Derive(known(map[api.NodeID]string{studio: ""})).Name(studio), "mac-j79r") // nor in a first look that found none
	is.Equal(len(saved), 0)                                                               // and it is not taken for one
	full = errors.New("the disk is full")
	is.Equal(c.Derive(known(map[api.NodeID]string{studio: "Studio"})).Name(studio), "studio")
	full = nil
	is.Equal(c.Derive(known(map[api.NodeID]string{studio: "Studio"})).Name(studio), "studio")
	is.Equal(saved, []map[api.NodeID]string{{studio: "Studio"}}) // when it is told
	c.Derive(known(map[api.NodeID]string{studio: "Studio"}))
	is.Equal(len(saved), 1) // the same is not saved again

	c = NewCalled(saved[0], save)
	is.Equal(c.Derive(known(nil)).Name(studio), "studio")
	is.Equal(c.Derive(known(map[api.NodeID]string{book: "Studio"})).Name(book), "studio-2") // the other has it
	is.Equal(c.Derive(known(map[api.NodeID]string{studio: "Desk"})).Name(studio), "desk")
	is.Equal(saved[len(saved)-1], map[api.NodeID]string{studio: "Desk", book: "Studio"})
}
