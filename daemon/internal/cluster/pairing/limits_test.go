package pairing

import (
	"bytes"
	"encoding/binary"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fulmen/daemon/api"
)

// framed is a message as it is on the wire, whatever it claims as its length.
func framed(length int, body string) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(length)), body...)
}

const goodHello = `{"hello":{"version":1,"version_min":1}}`

func TestBadMessages(t *testing.T) {
	for name, c := range map[string]struct {
		frames []string
		want   api.Reason
	}{
		"no JSON":            {[]string{"x"}, api.ReasonMalformedMessage},
		"empty":              {[]string{""}, api.ReasonMalformedMessage},
		"null":               {[]string{"null"}, api.ReasonMalformedMessage},
		"nothing in it":      {[]string{"{}"}, api.ReasonMalformedMessage},
		"unknown field":      {[]string{`{"hello":{"version":1,"version_min":1,"more":1}}`}, api.ReasonMalformedMessage},
		"a field twice":      {[]string{`{"hello":{"version":1,"version":1,"version_min":1}}`}, api.ReasonMalformedMessage},
		"another case":       {[]string{`{"Hello":{"version":1,"version_min":1}}`}, api.ReasonMalformedMessage},
		"spaces":             {[]string{`{"hello": {"version":1,"version_min":1}}`}, api.ReasonMalformedMessage},
		"two at once":        {[]string{`{"hello":{"version":1,"version_min":1},"ack":{}}`}, api.ReasonMalformedMessage},
		"out of turn":        {[]string{`{"ack":{}}`}, api.ReasonMalformedMessage},
		"hello twice":        {[]string{goodHello, goodHello}, api.ReasonMalformedMessage},
		"newer":              {[]string{`{"hello":{"version":3,"version_min":2}}`}, api.ReasonProtocolTooNew},
		"no version":         {[]string{`{"hello":{"version":0,"version_min":0}}`}, api.ReasonMalformedMessage},
		"a card unproved":    {[]string{goodHello, `{"card":{"name":"","short_name":"","version":"","cluster":""}}`}, api.ReasonMalformedMessage},
		"a reason made up":   {[]string{goodHello, `{"refuse":{"reason":"your_disk_is_full_call_this_number"}}`}, api.ReasonMalformedMessage},
		"refuses":            {[]string{goodHello, `{"refuse":{"reason":"pairing_not_open"}}`}, api.ReasonPairingNotOpen},
		"a claim for a year": {[]string{goodHello, `{"ask":{"name":"x","port":1,"valid_ms":31536000000,"tries_left":3}}`}, api.ReasonMalformedMessage},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				is, shower, typer := macs(t)
				shower.book.Open()
				a, b := connect(t, typer, shower)
				x := shower.show(t, b)
				go func() {
					for _, f := range c.frames {
						a.Write(framed(len(f), f))
					}
				}()
				drain(a)
				shown := <-x
				is.Equal(shown.reason(), c.want)
				is.Equal(strings.Contains(shown.err.Error(), "on both Macs"), c.want == api.ReasonMalformedMessage)
				is.Equal(shower.book.Standing().TriesLeft, api.MaxCodeTries)
			})
		})
	}
}

// drain reads all that comes.
func drain(c net.Conn) {
	go func() {
		buf := make([]byte, 1024)
		for {
			if _, err := c.Read(buf); err != nil {
				return
			}
		}
	}()
}

func TestOversized(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is, shower, typer := macs(t)
		a, b := connect(t, typer, shower)
		x := shower.show(t, b)
		_, err := a.Write(framed(api.MaxPairingBytes+1, ""))
		is.NoErr(err)
		is.Equal((<-x).reason(), api.ReasonMalformedMessage) // before it is read

		a, b = connect(t, typer, shower)
		x = shower.show(t, b)
		drain(a)
		go a.Write(framed(len(goodHello), goodHello))
		synctest.Wait()
		rest := api.MaxPairingBytes - 4 - len(goodHello)
		go a.Write(framed(rest-3, "")) // with its length one byte more than is left in all
		is.Equal((<-x).reason(), api.ReasonMalformedMessage)

		a, b = connect(t, typer, shower)
		x = shower.show(t, b)
		drain(a)
		_, err = a.Write(framed(len(goodHello), goodHello))
		is.NoErr(err)
		_, err = a.Write(append(framed(rest-4, ""), bytes.Repeat([]byte{' '}, rest-4)...))
		is.NoErr(err) // all of it is read, and is nothing
		is.Equal((<-x).reason(), api.ReasonMalformedMessage)
	})
}

func TestSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is, shower, typer := macs(t)
		a, b := connect(t, typer, shower)
		drain(a)
		began := time.Now()
		x := shower.show(t, b)
		given := make(chan struct{})
		go func() {
			defer close(given)
			for _, c := range framed(len(goodHello), goodHello) { // a byte a second
				if _, err := a.Write([]byte{c}); err != nil {
					return
				}
				time.Sleep(time.Second)
			}
		}()
		r := <-x
		is.Equal(r.reason(), api.ReasonDeadline)
		is.Equal(api.AsError(r.err).Data.WaitingFor, "the other Mac to say hello")
		is.Equal(time.Since(began), api.PairingDeadline)
		<-given
	})
}

// A Mac that went to sleep in the middle does not go on where it was.
func TestSleepEndsTheExchange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is, shower, typer := macs(t)
		_, b := connect(t, typer, shower)
		x := shower.show(t, b)
		synctest.Wait()
		shower.clock.sleep(time.Hour)
		shower.clock.Recheck()
		is.Equal((<-x).reason(), api.ReasonDeadline)
	})
}

// slow is an end that waits before each message.
type slow struct {
	net.Conn
	wait func()
}

func (s slow) Write(b []byte) (int, error) {
	s.wait()
	return s.Conn.Write(b)
}

// Each message comes in time, and all of them do not.
func TestSlowExchange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is, shower, typer := macs(t)
		code, _ := shower.book.Open()
		a, b := connect(t, typer, shower)
		a.Conn = slow{a.Conn, func() { time.Sleep(api.PairingDeadline - 100*time.Millisecond) }}
		began := time.Now()
		x, y := shower.show(t, b), typer.enter(t, a, code, WantsJoin)
		shown := <-x
		is.Equal(time.Since(began), ExchangeDeadline)
		is.NoErr(shown.err)
		is.Equal(api.AsError(shown.Doubt).Data.Reason, api.ReasonDeadline)
		is.NoErr((<-y).err) // it has the roster
	})
}
