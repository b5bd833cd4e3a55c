package relay_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/relay"
)

func TestTheNetworkNeedsTheKey(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := newPair(t)
	go func() {
		_ = http.Serve(p.program, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			_, _ = w.Write(append([]byte("heard "), body...))
		}))
	}()
	p.start(t, true)
	key := keyOf(p.laptop, job)
	is.Equal(len(key), 26)
	is.True(!p.open(published))

	long := strings.Repeat("x", 100<<10)
	for _, test := range []struct{ name, request, want string }{
		{"the key", "POST / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + key + "\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi", "heard hi"},
		{"in other letters", "GET / HTTP/1.1\r\nHost: x\r\nauthorization: bearer  " + key + "\r\nConnection: close\r\n\r\n", "heard "},
		{"a long body", "POST / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + key + "\r\nContent-Length: 102400\r\nConnection: close\r\n\r\n" + long, "heard " + long},
		{"no key", "GET / HTTP/1.1\r\nHost: x\r\n\r\n", "401"},
		{"a wrong key", "GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + key[:25] + "\r\n\r\n", "401"},
		{"two keys", "GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + key + "\r\nAuthorization: Bearer x\r\n\r\n", "401"},
		{"another scheme", "GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Basic " + key + "\r\n\r\n", "401"},
		{"the key in the second request", "GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nAuthorization: Bearer " + key + "\r\n\r\n", "401"},
		{"no HTTP", "\x16\x03\x01\x02\x00\r\n\r\n", "401"},
		{"a head without end", "GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + key + "\r\nX: " + long, "401"},
	} {
		t.Run(test.name, func(t *testing.T) {
			is := is.New(t)
			conn := p.dial(t, lan)
			go func() { _, _ = conn.Write([]byte(test.request)) }()
			answer, err := io.ReadAll(conn)
			is.NoErr(err)
			if test.want == "401" {
				is.True(bytes.HasPrefix(answer, []byte("HTTP/1.1 401 Unauthorized\r\n")))
				is.True(!bytes.Contains(answer, []byte(key[:8])))
				return
			}
			is.True(bytes.HasSuffix(answer, []byte("\r\n\r\n"+test.want)) || bytes.Contains(answer, []byte(test.want)))
		})
	}
}

func TestTheKeyComesInPieces(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	p := newPair(t)
	go p.echo()
	p.start(t, true)
	key := keyOf(p.laptop, job)
	conn := p.dial(t, lan)
	is.NoErr(conn.SetNoDelay(true))
	head := "GET / HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + key + "\r\n\r\n"
	for _, b := range []byte(head) {
		_, err := conn.Write([]byte{b})
		is.NoErr(err)
	}
	is.NoErr(conn.CloseWrite())
	received, err := io.ReadAll(conn)
	is.NoErr(err)
	is.Equal(string(received), head)
}

func TestTheKeyIsTheJobs(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	one, other := newPair(t), newPair(t)
	one.start(t, true)
	other.start(t, true)
	first := keyOf(one.laptop, job)
	again := keyOf(other.laptop, job)
	is.Equal(first, again) // a restarted daemon gives the same
	spec := one.spec(true)
	spec.Job = "j11111111"
	one.laptop.Close(job)
	is.NoErr(one.laptop.Open(spec, rank0, studio))
	second := keyOf(one.laptop, spec.Job)
	is.Equal(len(second), 26)
	is.True(first != second)
	is.Equal(keyOf(one.laptop, job), "")
}

// keyOf is the key of a job of which a port is open on the network.
func keyOf(r *relay.Relay, job api.JobID) string {
	for _, port := range r.Of(job) {
		if port.LAN {
			return port.Key
		}
	}
	return ""
}
