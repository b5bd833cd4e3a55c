package jaccl

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"sync"
)

// wires are what queue pairs are to JACCL: a connection for each cable to each peer, at
// this machine. A description has the port at which the lower of two ranks takes them.
type wires struct {
	listener net.Listener
	conns    map[[2]int]net.Conn // by peer and cable
}

// portAt is where a description has the port.
const portAt = 14

// open takes and dials every connection of a rank; ports are those of all ranks.
func (w *wires) open(ctx context.Context, o Options, ports []uint16) error {
	w.conns = map[[2]int]net.Conn{}
	stop := context.AfterFunc(ctx, func() { w.listener.Close() })
	defer stop()
	expected := 0
	for peer, names := range o.Devices[o.Rank] {
		for wire := range names {
			if peer > o.Rank {
				expected++
				continue
			}
			conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", ports[peer]))
			if err != nil {
				return err
			}
			w.conns[[2]int{peer, wire}] = conn
			if _, err := conn.Write([]byte{byte(o.Rank), byte(wire)}); err != nil {
				return err
			}
		}
	}
	for range expected {
		conn, err := w.listener.Accept()
		if err != nil {
			return err
		}
		head := make([]byte, 2)
		if _, err := io.ReadFull(conn, head); err != nil {
			return err
		}
		w.conns[[2]int{int(head[0]), int(head[1])}] = conn
	}
	return nil
}

// Exchange sends so many bytes to each peer and gets as many, in parts of one size over
// the cables to it as MLX does, and counts what each device carried both ways.
func (g *Group) Exchange(o Options, bytes int64) (carried map[string]int64, err error) {
	carried = map[string]int64{}
	var mu sync.Mutex
	var both sync.WaitGroup
	for at, conn := range g.wires.conns {
		names := o.Devices[o.Rank][at[0]]
		part := bytes / int64(len(names))
		count := func(n int64, failed error) {
			mu.Lock()
			defer mu.Unlock()
			carried[names[at[1]]] += n
			if failed != nil {
				err = failed
			}
		}
		both.Go(func() {
			head := binary.LittleEndian.AppendUint64(nil, uint64(at[1]))
			n, failed := conn.Write(append(head, make([]byte, part)...))
			count(int64(n)-8, failed)
		})
		both.Go(func() {
			head := make([]byte, 8)
			_, failed := io.ReadFull(conn, head)
			if wire := binary.LittleEndian.Uint64(head); failed == nil && wire != uint64(at[1]) {
				failed = fmt.Errorf("cable %d of rank %d is cable %d of rank %d", at[1], o.Rank, wire, at[0])
			}
			n := int64(0)
			if failed == nil {
				n, failed = io.CopyN(io.Discard, conn, part)
			}
			count(n, failed)
		})
	}
	both.Wait()
	return carried, err
}
