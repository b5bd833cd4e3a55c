package jaccl

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// Group is a rank's group. Its connections stay open until it is closed.
type Group struct {
	rank, size int
	conns      []net.Conn // rank 0: of ranks 1 and on, in order; others: to rank 0
	wires      *wires     // of a mesh whose ranks exchange something; nil else
}

// ErrMixed is a group of whose ranks not all belong to the same.
var ErrMixed = errors.New("the ranks of several groups were mixed")

// descriptionBytes is what describes a queue pair: three numbers and an address.
const descriptionBytes = 3*4 + 16

// Join joins the group, which takes until all others have. Ctx ends no more than
// the waits for rank 0.
func Join(ctx context.Context, o Options) (joined *Group, err error) {
	if o.Network == nil {
		o.Network = machine{}
	}
	g := &Group{rank: o.Rank, size: len(o.Devices)}
	rings := 1 // how often descriptions are gathered
	switch {
	case o.Rank < 0 || o.Rank >= g.size || g.size < 2:
		return nil, fmt.Errorf("there is no rank %d of %d", o.Rank, g.size)
	case o.Ring && isRing(o.Devices), !isMesh(o.Devices) && isRing(o.Devices):
		rings = 2
	case !isMesh(o.Devices):
		return nil, errors.New("the devices are neither those of a mesh nor those of a ring")
	}
	o.at(StepBegin)
	defer func() {
		if err != nil {
			g.Close()
		}
	}()
	if err := g.open(ctx, o); err != nil {
		return nil, err
	}
	o.at(StepNumbered)
	if o.Exchanges && rings == 1 {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		g.wires = &wires{listener: listener}
	}
	for side := range rings {
		ports, err := g.describe(o, side)
		if err == nil && g.wires != nil {
			err = g.wires.open(ctx, o, ports)
		}
		if err != nil {
			return nil, err
		}
	}
	o.at(StepDescribed)
	for range 2 {
		if _, err := g.gather(make([]byte, 4)); err != nil {
			return nil, err
		}
		o.at(StepWaited)
	}
	o.at(StepJoined)
	return g, nil
}

// Close closes the rank's connections.
func (g *Group) Close() {
	for _, c := range g.conns {
		if c != nil {
			c.Close()
		}
	}
	if g.wires != nil {
		g.wires.listener.Close()
		for _, c := range g.wires.conns {
			c.Close()
		}
	}
}

// Watch waits until one of the connections ends, which JACCL itself does not do.
func (g *Group) Watch() error {
	ended := make(chan error, len(g.conns))
	for _, conn := range g.conns {
		go func() {
			_, err := conn.Read(make([]byte, 1))
			ended <- err
		}()
	}
	return <-ended
}

func (g *Group) open(ctx context.Context, o Options) error {
	if g.rank == 0 {
		return g.take(ctx, o)
	}
	conn, err := connect(ctx, o)
	if err != nil {
		return err
	}
	g.conns = []net.Conn{conn}
	o.at(StepOpen)
	_, err = conn.Write(binary.LittleEndian.AppendUint32(nil, uint32(g.rank)))
	return err
}

// take takes the connections of all others.
func (g *Group) take(ctx context.Context, o Options) error {
	l, err := o.Network.Listen(o.Coordinator)
	if err != nil {
		return err
	}
	defer l.Close() // not before each has said its number, as JACCL
	stop := context.AfterFunc(ctx, func() { l.Close() })
	defer stop()
	o.at(StepOpen)
	all := make([]net.Conn, g.size-1)
	g.conns = make([]net.Conn, g.size-1)
	defer func() {
		if g.conns[0] == nil {
			for _, c := range all {
				if c != nil {
					c.Close()
				}
			}
		}
	}()
	for i := range all {
		if all[i], err = l.Accept(); err != nil {
			return err
		}
	}
	placed := make([]net.Conn, g.size-1)
	for _, conn := range all {
		number := make([]byte, 4)
		if _, err := io.ReadFull(conn, number); err != nil {
			return fmt.Errorf("recv failed: %w", err)
		}
		n := int(int32(binary.LittleEndian.Uint32(number)))
		if n < 1 || n >= g.size || placed[n-1] != nil {
			// JACCL crashes or loops for ever.
			return fmt.Errorf("a connection is of rank %d, which is none or was there before", n)
		}
		placed[n-1] = conn
	}
	g.conns = placed
	return nil
}

// connect tries four times, at 0, 1, 3 and 7 s, and sleeps after the last as well.
func connect(ctx context.Context, o Options) (net.Conn, error) {
	wait := time.Second
	for attempt := range 4 {
		conn, err := o.Network.Dial(ctx, o.Coordinator)
		if err == nil {
			return conn, nil
		}
		if o.Tried != nil {
			o.Tried(attempt, wait)
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, ctx.Err()
		}
		wait *= 2
	}
	return nil, fmt.Errorf("rank 0 could not be connected to at %s", o.Coordinator)
}

// describe gathers first how many queue pairs each has, one for each cable to each rank,
// then what they are. It gives the ports that they name.
func (g *Group) describe(o Options, side int) ([]uint16, error) {
	var mine []byte
	count := g.size * max(len(o.Devices[0][1]), 1)
	for i := range count {
		one := make([]byte, descriptionBytes)
		binary.LittleEndian.PutUint64(one, o.Mark)
		binary.LittleEndian.PutUint32(one[8:], uint32(g.rank))
		one[12], one[13] = byte(i), byte(side)
		if g.wires != nil {
			binary.LittleEndian.PutUint16(one[portAt:], uint16(g.wires.listener.Addr().(*net.TCPAddr).Port))
		}
		mine = append(mine, one...)
	}
	if _, err := g.gather(binary.LittleEndian.AppendUint32(nil, uint32(count))); err != nil {
		return nil, err
	}
	all, err := g.gather(mine)
	if err != nil {
		return nil, err
	}
	ports := make([]uint16, g.size)
	for rank := range g.size {
		part := bytes.Clone(all[rank*len(mine) : (rank+1)*len(mine)])
		if binary.LittleEndian.Uint64(part) != o.Mark || binary.LittleEndian.Uint32(part[8:]) != uint32(rank) {
			return nil, ErrMixed
		}
		ports[rank] = binary.LittleEndian.Uint16(part[portAt:])
	}
	return ports, nil
}

// gather sends as many bytes as every other rank and gets those of all.
func (g *Group) gather(mine []byte) ([]byte, error) {
	all := make([]byte, g.size*len(mine))
	copy(all, mine)
	if g.rank > 0 {
		if _, err := g.conns[0].Write(mine); err != nil {
			return nil, fmt.Errorf("send failed: %w", err)
		}
		if _, err := io.ReadFull(g.conns[0], all); err != nil {
			return nil, fmt.Errorf("recv failed: %w", err)
		}
		return all, nil
	}
	for i, conn := range g.conns {
		if _, err := io.ReadFull(conn, all[(i+1)*len(mine):(i+2)*len(mine)]); err != nil {
			return nil, fmt.Errorf("recv failed: %w", err)
		}
	}
	for _, conn := range g.conns {
		if _, err := conn.Write(all); err != nil {
			return nil, fmt.Errorf("send failed: %w", err)
		}
	}
	return all, nil
}

func isMesh(devices [][][]string) bool {
	for i, row := range devices {
		for j, names := range row {
			if (i == j) != (len(names) == 0) {
				return false
			}
		}
	}
	return true
}

func isRing(devices [][][]string) bool {
	size := len(devices)
	for i, row := range devices {
		if len(row) != size || len(row[(i+1)%size]) != len(devices[0][1]) || len(row[(i+size-1)%size]) != len(devices[0][1]) {
			return false
		}
	}
	return true
}
