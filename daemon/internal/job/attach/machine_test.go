package attach_test

import (
	"context"
	"net"
	"sync"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/peer"
)

// machine is a node's ranks in memory: it serves what the node of a rank serves.
type machine struct {
	ctx  context.Context
	stop context.CancelFunc

	mu      sync.Mutex
	changed chan struct{}
	ranks   map[api.RankRef]*program
}

// program is one rank.
type program struct {
	text  map[api.OutputStream]string
	ended bool
	input string
	reads int // how much input it takes
	over  bool
	// displaced ends the connection that gives input, for another one.
	displaced bool
	rows      int
	by        api.Principal
	refuses   *api.Error // whoever asks for it
}

func newMachine(peers *peer.Peers) *machine {
	m := &machine{changed: make(chan struct{}), ranks: map[api.RankRef]*program{}}
	m.ctx, m.stop = context.WithCancel(context.Background())
	peers.HandleStream(gate.ServePerson(gate.Output, m.output))
	peers.HandleStream(gate.ServePerson(gate.Input, m.input))
	peers.HandleCall(gate.HandlePerson(gate.Resize, func(_ context.Context, _ gate.Acting, p api.PeerResizeParams) (any, error) {
		m.do(p.Rank, func(r *program) { r.rows = p.Rows })
		return nil, nil
	}))
	return m
}

func (m *machine) add(ref api.RankRef) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ranks[ref] = &program{text: map[api.OutputStream]string{}, reads: 1 << 30}
}

// do changes a rank and wakes whoever serves it.
func (m *machine) do(ref api.RankRef, f func(*program)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r := m.ranks[ref]; r != nil {
		f(r)
	}
	close(m.changed)
	m.changed = make(chan struct{})
}

func (m *machine) print(ref api.RankRef, stream api.OutputStream, text string) {
	m.do(ref, func(r *program) { r.text[stream] += text })
}

func (m *machine) end(ref api.RankRef) { m.do(ref, func(r *program) { r.ended = true }) }

// see gives a rank as it is, and what tells of the next change.
func (m *machine) see(ref api.RankRef) (program, bool, <-chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.ranks[ref]
	if r == nil {
		return program{}, false, m.changed
	}
	seen := *r
	seen.text = map[api.OutputStream]string{api.StreamOut: r.text[api.StreamOut], api.StreamErr: r.text[api.StreamErr]}
	return seen, true, m.changed
}

func (m *machine) output(ctx context.Context, _ gate.Acting, _ error, first api.PeerConn, conn net.Conn) {
	defer context.AfterFunc(m.ctx, func() { conn.Close() })()
	to := peer.NewWriter(conn)
	at := map[api.OutputStream]int64{api.StreamOut: first.Output.OutBytes, api.StreamErr: first.Output.ErrBytes}
	for {
		r, ok, changed := m.see(first.Rank)
		if first.Output.Prepare {
			r.text = map[api.OutputStream]string{api.StreamErr: "what prepares " + first.Rank.String()}
		}
		if !ok {
			_ = to.Send(peer.Refused{Error: api.NewError(api.ReasonNoSuchRank, first.Rank.String())})
			return
		}
		if r.refuses != nil {
			_ = to.Send(peer.Refused{Error: r.refuses})
			return
		}
		for stream, text := range r.text {
			if at[stream] < 0 {
				at[stream] = max(0, int64(len(text))+at[stream])
			}
			for at[stream] < int64(len(text)) {
				data := text[at[stream]:min(at[stream]+peer.MaxPiece, int64(len(text)))]
				if to.Send(peer.Piece{Stream: stream, Offset: at[stream], Data: []byte(data)}) != nil {
					return
				}
				at[stream] += int64(len(data))
			}
		}
		if r.ended || !first.Output.Follow {
			_ = to.Send(peer.End{OutBytes: at[api.StreamOut], ErrBytes: at[api.StreamErr], Ended: r.ended})
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		case <-m.ctx.Done():
			return
		}
	}
}

// displace ends a connection that gives input when the rank is told to.
func (m *machine) displace(ref api.RankRef, to *peer.Writer, conn net.Conn, over <-chan struct{}) {
	for {
		r, _, changed := m.see(ref)
		if r.displaced {
			m.do(ref, func(r *program) { r.displaced = false })
			_ = to.Send(peer.Refused{Error: api.NewError(api.ReasonInputElsewhere, ref.String())})
			conn.Close()
			return
		}
		select {
		case <-changed:
		case <-over:
			return
		}
	}
}

func (m *machine) input(ctx context.Context, _ gate.Acting, _ error, first api.PeerConn, conn net.Conn) {
	defer context.AfterFunc(m.ctx, func() { conn.Close() })()
	to, from := peer.NewWriter(conn), peer.NewReader(conn)
	r, _, _ := m.see(first.Rank)
	if r.refuses != nil {
		_ = to.Send(peer.Refused{Error: r.refuses})
		return
	}
	m.do(first.Rank, func(r *program) { r.by = first.Input.By })
	if to.Send(peer.Taken{Bytes: int64(len(r.input))}) != nil {
		return
	}
	over := make(chan struct{})
	defer close(over)
	go m.displace(first.Rank, to, conn, over)
	for {
		message, err := from.Next()
		given, ok := message.(peer.Given)
		if err != nil || !ok {
			return
		}
		for {
			var taken peer.Taken
			m.do(first.Rank, func(r *program) {
				known := min(int64(len(r.input))-given.Offset, int64(len(given.Data)))
				left := given.Data[known:]
				n := min(len(left), max(0, r.reads-len(r.input)))
				r.input += string(left[:n])
				taken = peer.Taken{Bytes: int64(len(r.input)), Ended: given.End && n == len(left)}
				r.over = r.over || taken.Ended
			})
			if to.Send(taken) != nil {
				return
			}
			if taken.Bytes >= given.Offset+int64(len(given.Data)) {
				break
			}
			_, _, changed := m.see(first.Rank)
			select {
			case <-changed:
			case <-ctx.Done():
				return
			case <-m.ctx.Done():
				return
			}
		}
	}
}
