package relay

import (
	"io"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
)

// What a program has not answered is open, by whatever way it came, and that nothing is
// asked is reported once that lasts.
func TestHowARankIsUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		began := time.Now()
		rank := api.RankRef{Job: theirJob, Attempt: 1}
		var mu sync.Mutex
		var all []api.Time
		idle := func() []api.Time {
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(all)
		}
		who := &listeners{}
		r := lonely(func(c *Config) { c.Processes = who })
		s := r.serve(rank, 1, nil, func([]int) {}, idleSettle, func(since api.Time) {
			mu.Lock()
			defer mu.Unlock()
			all = append(all, since)
		})
		open := func() int {
			synctest.Wait()
			return s.use.count()
		}
		is.Equal(open(), 0)
		time.Sleep(idleSettle - time.Nanosecond)
		is.Equal(len(idle()), 0)
		time.Sleep(time.Nanosecond)
		is.Equal(idle(), []api.Time{api.TimeOf(began)}) // nobody has asked since it was started

		s.use.moved(1)
		is.Equal(open(), 1)
		is.Equal(len(idle()), 2)
		is.True(idle()[1].IsZero())
		time.Sleep(time.Hour) // however long an answer takes
		is.Equal(open(), 1)
		is.Equal(len(idle()), 2)
		s.use.moved(-1)
		is.Equal(open(), 0)
		asked := time.Now()
		time.Sleep(2 * idleSettle)
		is.Equal(idle()[2:], []api.Time{api.TimeOf(asked)})
		s.shut()
		s.use.moved(1)
		s.use.moved(-1)
		time.Sleep(time.Hour)
		is.Equal(len(idle()), 3) // after its end nothing is reported
	})
}

// A connection asks while its last bytes went to the program.
func TestAConnectionThatAsks(t *testing.T) {
	is := is.New(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	is.NoErr(err)
	defer listener.Close()
	plain, err := net.Dial("tcp", listener.Addr().String())
	is.NoErr(err)
	program, err := listener.Accept()
	is.NoErr(err)
	defer program.Close()
	rank := api.RankRef{Job: theirJob, Attempt: 1}
	r := lonely(func(c *Config) { c.Processes = &listeners{} })
	s := r.serve(rank, 1, nil, func([]int) {}, idleSettle, func(api.Time) {})
	defer s.shut()
	owed := 0
	asked := &counted{TCPConn: plain.(*net.TCPConn), use: &s.use, owe: func() func() { owed++; return func() { owed-- } }}
	defer asked.Close()
	open := s.use.count
	for range 2 {
		for range 2 {
			_, err = asked.Write([]byte("?"))
			is.NoErr(err)
			is.Equal(open(), 1)
			is.Equal(owed, 1)
		}
		_, err = io.ReadFull(program, make([]byte, 2))
		is.NoErr(err)
		_, err = program.Write([]byte("!"))
		is.NoErr(err)
		_, err = asked.Read(make([]byte, 1))
		is.NoErr(err)
		is.Equal(open(), 0)
		is.Equal(owed, 0)
	}
	_, _ = asked.Write([]byte("?"))
	asked.turn(false) // as [Relay.accept] does at its end
	is.Equal(open(), 0)
	is.Equal(owed, 0)
}

func (u *usage) count() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.open
}
