package multipath

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"fulmen/native"
	"fulmen/native/memnet"
	"fulmen/native/nativetest/testkit"
)

func TestBenchmarks(t *testing.T) { testkit.BenchmarksOnce(t) }

// rig is a connection's two ends, and the cables between them.
type rig struct {
	t     *testing.T
	a, b  *Conn
	lines []*memnet.Line
}

// cabled is two ends joined by cables of these delays, which are what bounds their rates.
func cabled(t *testing.T, delays ...time.Duration) *rig {
	t.Helper()
	began := time.Now()
	clock := native.ClockFrom(time.Now, func() time.Duration { return time.Since(began) }) // of the bubble
	r := &rig{t: t, a: New(clock), b: New(clock)}
	for _, d := range delays {
		r.plug(d)
	}
	return r
}

func (r *rig) plug(delay time.Duration) {
	line := memnet.NewLine(uint64(len(r.lines)), memnet.Quality{Delay: delay})
	r.lines = append(r.lines, line)
	at := netip.AddrFrom4([4]byte{10, 0, 0, byte(len(r.lines))})
	a, b := line.Pipe(&net.TCPAddr{}, &net.TCPAddr{})
	r.a.Add(a, at)
	r.b.Add(b, at)
}

// content is so many bytes, no two blocks of which are the same.
func content(size int) []byte {
	data := make([]byte, size)
	for i := 0; i < size; i += 8 {
		binary.LittleEndian.PutUint64(data[i:], uint64(i)*0x9e3779b97f4a7c15)
	}
	return data
}

// carry writes all at one end and gives what comes at the other one.
func (r *rig) carry(data []byte, during func(sofar int)) []byte {
	r.t.Helper()
	wrote := make(chan error, 1)
	go func() {
		_, err := r.a.Write(data)
		wrote <- errors.Join(err, r.a.Close())
	}()
	var got bytes.Buffer
	part := make([]byte, 64<<10)
	for {
		n, err := r.b.Read(part)
		got.Write(part[:n])
		if during != nil {
			during(got.Len())
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			r.t.Fatal(err)
		}
	}
	if err := <-wrote; err != nil {
		r.t.Fatal(err)
	}
	r.b.Close()
	return got.Bytes()
}

// TestAllCablesCarry: a slower one carries less, and all of it comes in order.
func TestAllCablesCarry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		r := cabled(t, time.Millisecond, 4*time.Millisecond)
		data := content(40 << 20)
		var paths []Path
		got := r.carry(data, func(sofar int) {
			if sofar < 39<<20 {
				paths = r.b.Paths()
			}
		})
		is.True(bytes.Equal(got, data))
		is.Equal(len(paths), 2)
		is.True(paths[1].Received > 4<<20)
		is.True(paths[0].Received > 2*paths[1].Received)
	})
}

// TestACableIsUnplugged, and another one is plugged in: what was under way goes over the
// others, though no end is notified of it.
func TestACableIsUnplugged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		r := cabled(t, time.Millisecond, time.Millisecond)
		data := content(60 << 20)
		steps := []func(){
			func() { r.lines[1].SetCut(true) },
			func() { r.plug(time.Millisecond) },
			func() { r.lines[0].SetCut(true) },
		}
		began := time.Now()
		got := r.carry(data, func(sofar int) {
			if len(steps) > 0 && sofar > (4-len(steps))*14<<20 {
				steps[0]()
				steps = steps[1:]
			}
		})
		is.True(bytes.Equal(got, data))
		is.True(time.Since(began) < 2*(stalledAfter+2)*lookEvery)
		<-r.a.Lost
	})
}

// TestNoCableIsLeft: it ends within seconds at both ends, unless another one comes.
func TestNoCableIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		r := cabled(t, time.Millisecond)
		data := content(20 << 20)
		isGone := false
		got := r.carry(data, func(sofar int) {
			if !isGone && sofar > 8<<20 {
				isGone = true
				r.a.Drop(r.a.Paths()[0].At)
				r.plug(time.Millisecond)
			}
		})
		is.True(bytes.Equal(got, data))

		r = cabled(t, time.Millisecond)
		_, err := r.a.Write([]byte("x"))
		is.NoErr(err)
		r.b.Drop(r.b.Paths()[0].At)
		began := time.Now()
		_, err = io.Copy(io.Discard, r.b)
		is.True(errors.Is(err, ErrNoPath))
		_, err = r.a.Read(make([]byte, 1))
		is.True(errors.Is(err, ErrNoPath))
		is.True(time.Since(began) <= pathlessFor+lookEvery)
		_, err = r.a.Write([]byte("x"))
		is.True(errors.Is(err, ErrNoPath))
		r.plug(0)
		is.Equal(len(r.a.Paths()), 0) // it is over
	})
}

// TestOneWhoReadsNothing holds up who writes, and costs no more than the window.
func TestOneWhoReadsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		r := cabled(t, time.Millisecond, time.Millisecond)
		wrote := make(chan error, 1)
		go func() {
			_, err := r.a.Write(make([]byte, 3*window))
			wrote <- err
		}()
		time.Sleep(time.Minute) // no path counts as broken meanwhile
		synctest.Wait()
		is.Equal(len(r.b.Paths()), 2)
		r.b.mu.Lock()
		held := r.b.heldBytes
		r.b.mu.Unlock()
		is.True(window/2 < held && held <= window+2*blockBytes)
		r.b.Close()
		is.True(<-wrote != nil)
		r.a.Close()
	})
}

// TestHostileFrames end their path alone.
func TestHostileFrames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		for _, h := range []head{
			{length: blockBytes + 1}, {offset: 1 << 63, length: 1}, {offset: 2 * window, length: 1}, {flags: 4}, {received: 1}, {read: 1},
		} {
			r := cabled(t, time.Millisecond)
			line := memnet.NewLine(9, memnet.Quality{})
			near, far := line.Pipe(&net.TCPAddr{}, &net.TCPAddr{})
			ended := r.b.Add(near, netip.Addr{})
			frame := make([]byte, headBytes)
			h.put(frame)
			_, err := far.Write(frame)
			is.NoErr(err)
			<-ended
			is.Equal(len(r.b.Paths()), 1)
			is.Equal(string(r.carry([]byte("all"), nil)), "all")
		}
	})
}

func BenchmarkCarry(b *testing.B) {
	clock, err := native.SystemClock()
	if err != nil {
		b.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	from, to := New(clock), New(clock)
	for range 2 {
		near, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			b.Fatal(err)
		}
		far, err := l.Accept()
		if err != nil {
			b.Fatal(err)
		}
		from.Add(near, netip.Addr{})
		to.Add(far, netip.Addr{})
	}
	defer from.Close()
	defer to.Close()
	data := make([]byte, 4<<20)
	into := make([]byte, 256<<10)
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		go from.Write(data)
		for left := len(data); left > 0; {
			n, err := to.Read(into)
			if err != nil {
				b.Fatal(err)
			}
			left -= n
		}
	}
}
