package sidechannel

import (
	"context"
	"errors"
	"net"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/native"
)

// scripted is a machine on which each look finds what is next, and the last for ever.
type scripted struct {
	reported
	finds   []native.Listening
	looks   int
	refuses int // connections, until rank 0 takes one
	dials   []int
}

func (s *scripted) Listens(int, int, native.Listening) (native.Listening, error) {
	s.looks++
	return s.finds[min(s.looks, len(s.finds))-1], nil
}

func (s *scripted) Dial(context.Context, int) (net.Conn, error) {
	if s.dials = append(s.dials, s.looks); len(s.dials) <= s.refuses {
		return nil, syscall.ECONNREFUSED
	}
	near, _ := net.Pipe()
	return near, nil
}

var (
	nothing = native.Listening{}
	itself  = native.Listening{Group: true}
	roomy   = native.Listening{Group: true, Room: 2}
	another = native.Listening{Others: true}
)

// Another's listener, and none where there was one, count once they are found so many
// times in a row.
func TestWhatIsFoundInARow(t *testing.T) {
	for name, c := range map[string]struct {
		finds []native.Listening
		fails api.Reason
		after time.Duration // since the first look
	}{
		"it stays":                   {[]native.Listening{itself}, "", 0},
		"it never came":              {[]native.Listening{nothing}, "", 0},
		"it goes":                    {[]native.Listening{itself, nothing}, api.ReasonStrayConnection, strayAfter * watchEvery},
		"it is gone for a moment":    {[]native.Listening{itself, nothing, nothing, nothing, itself}, "", 0},
		"and for another":            {[]native.Listening{itself, nothing, nothing, nothing, itself, nothing, nothing, nothing, itself}, "", 0},
		"another listens":            {[]native.Listening{another}, api.ReasonPortTaken, lookIdle},
		"another ends":               {[]native.Listening{another, nothing}, "", 0},
		"another ends, and the next": {[]native.Listening{another, nothing, another, nothing}, "", 0},
		"another ends, and it comes": {[]native.Listening{another, itself, another, itself}, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				is := is.New(t)
				r := rootAlone("a", "b")
				var failed []api.Reason
				start := time.Now()
				var after time.Duration
				r.c.cfg.Machine, r.c.cfg.Group = &scripted{finds: c.finds}, func(api.RankRef) int { return 1 }
				r.c.cfg.Fail = func(_ api.RankRef, err *api.Error) {
					failed, after = append(failed, err.Data.Reason), time.Since(start)
				}
				over := make(chan struct{})
				go func() { r.watch(); close(over) }()
				time.Sleep(20 * watchEvery)
				synctest.Wait()
				if c.fails == "" {
					is.Equal(len(failed), 0)
				} else {
					is.Equal(failed, []api.Reason{c.fails})
					is.Equal(after, c.after)
				}
				r.cancel()
				<-over
				r.reporter.stop()
			})
		})
	}
}

// Rank 0 is connected once it was seen to have room, and is given up where it listens no
// more while a connection is due.
func TestWhenRankZeroIsConnected(t *testing.T) {
	for name, c := range map[string]struct {
		finds   []native.Listening
		refuses int
		dials   []int // how often it was looked before each
		after   time.Duration
	}{
		"it has room":             {[]native.Listening{roomy}, 0, []int{1}, 0},
		"it has room later":       {[]native.Listening{itself, itself, roomy}, 0, []int{3}, 2 * listenRetry},
		"it listens no more":      {[]native.Listening{nothing}, 0, nil, (strayAfter - 1) * watchEvery},
		"it listens again":        {[]native.Listening{nothing, nothing, nothing, roomy}, 0, []int{4}, 3 * watchEvery},
		"another listens, for so": {[]native.Listening{another, another, another, another, another, roomy}, 0, []int{6}, 5 * watchEvery},
		"it refuses":              {[]native.Listening{roomy}, 1, []int{1, 2}, listenRetry}, // and is looked at anew
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				is := is.New(t)
				r := rootAlone("a", "b")
				r.ch.Within, r.connecting, r.searchedAt = time.Minute, make(chan struct{}, 1), -lookAgain
				machine := &scripted{finds: c.finds, refuses: c.refuses}
				r.c.cfg.Machine, r.c.cfg.Group = machine, func(api.RankRef) int { return 1 }
				start := time.Now()
				conn, err := r.connect()
				is.Equal(time.Since(start), c.after)
				is.Equal(machine.dials, c.dials)
				if c.dials == nil {
					var stray *strayError
					is.True(errors.As(err, &stray))
					return
				}
				is.NoErr(err)
				conn.Close()
				r.cancel()
			})
		})
	}
}

// lasting is another node, whose streams end by themselves: each lasts so long, and of a
// time below 0 there is none.
type lasting struct {
	nobody
	lasts  []time.Duration
	opened []time.Duration // when each was opened, since the last one ended
	ended  time.Time
}

func (p *lasting) Stream(context.Context, api.NodeID, api.PeerConn) (net.Conn, error) {
	lasts := p.lasts[min(len(p.opened), len(p.lasts)-1)]
	p.opened = append(p.opened, time.Since(p.ended))
	p.ended = time.Now()
	if lasts < 0 {
		return nil, errors.New("nobody is there")
	}
	p.ended = p.ended.Add(lasts)
	near, far := net.Pipe()
	time.AfterFunc(lasts, func() { far.Close() })
	return near, nil
}

// A stream is opened again after pauses that grow to a bound, and are short again only
// after one that has lasted.
func TestAStreamIsOpenedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		lasts []time.Duration
		want  []time.Duration // in ms
	}{
		"nobody is there":   {[]time.Duration{-1}, []time.Duration{0, 50, 100, 200, 400, 800, 1000, 1000}},
		"it ends at once":   {[]time.Duration{0}, []time.Duration{0, 50, 100, 200, 400, 800, 1000, 1000}},
		"it ends too early": {[]time.Duration{-1, -1, streamLate, -1}, []time.Duration{0, 50, 100, 200, 400}},
		"it has lasted":     {[]time.Duration{-1, -1, streamLate + 1, -1}, []time.Duration{0, 50, 100, 50, 100, 200}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				is := is.New(t)
				l, _ := leafAlone(api.HandshakeNone)
				ctx, cancel := context.WithCancel(context.Background())
				l.ctx, l.cancel = ctx, cancel
				start := time.Now()
				l.c.cfg.Clock = native.ClockFrom(time.Now, func() time.Duration { return time.Hour + time.Since(start) })
				peers := &lasting{lasts: c.lasts, ended: start}
				l.c.cfg.Peers = peers
				over := make(chan struct{})
				go func() { l.keepStream(); close(over) }()
				time.Sleep(10 * time.Second)
				synctest.Wait()
				var got []time.Duration
				for _, pause := range peers.opened[:len(c.want)] {
					got = append(got, pause/time.Millisecond)
				}
				is.Equal(got, c.want)
				cancel()
				<-over
				l.work.Wait()
				l.reporter.stop()
			})
		})
	}
}

// Rank 0's end takes nobody else, lets what is due be sent, and only then hangs up.
func TestRankZeroEndsOnceAllIsSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		r := rootAlone("a", "b")
		var back []int
		works := true
		r.work.Go(func() {
			<-r.ctx.Done()
			time.Sleep(time.Second)
			works = false
		})
		r.port, r.c.cfg.Return = 29500, func(port int) {
			back = append(back, port)
			is.True(!works) // nothing of it goes on at that port
		}
		r.silence = r.c.cfg.Clock.AfterFunc(time.Hour, r.stopCarrying)
		j, far := r.stream("b", 1, 3)
		is.True(r.attach(j))
		var waited []<-chan struct{}
		r.close(func(done <-chan struct{}) {
			waited = append(waited, done)
			select {
			case <-r.ending.Done():
			default:
				t.Error("it waits, and nobody was told that it ends")
			}
			is.True(!isShut(far))
		})
		is.True(slices.Contains(waited, (<-chan struct{})(j.out.sent)))
		is.True(isShut(far))
		is.True(r.ctx.Err() != nil)
		is.Equal(back, []int{29500})
		late, _ := r.stream("b", 1, 3)
		is.True(!r.attach(late))
		time.Sleep(2 * time.Hour)
		is.True(!r.isSilent.Load()) // no timer is left
	})
}
