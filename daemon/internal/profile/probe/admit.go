package probe

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"net"

	"fulmen/daemon/api"
	"fulmen/native"
	"fulmen/native/frame"
)

// accept takes the measurement's connections until it is over. Where too many
// are about to prove who they are, the oldest has to go.
func (v *visit) accept() {
	var strangers []net.Conn // the oldest first; those that proved themselves go unharmed
	for {
		conn, err := v.listen.Accept()
		if err != nil {
			v.cancel(either(context.Cause(v.ctx), err))
			return
		}
		strangers = append(strangers, conn)
		if len(strangers) > maxStrangers {
			v.mu.Lock()
			known := v.known[strangers[0]]
			v.mu.Unlock()
			if !known {
				strangers[0].Close()
			}
			strangers = strangers[1:]
		}
		v.working.Go(func() {
			place, err := v.prove(conn)
			if err != nil {
				v.prober.cfg.Log.Debug("refused a connection for a measurement", "remote", conn.RemoteAddr(), "error", err)
				conn.Close()
				return
			}
			v.use(conn, place)
		})
	}
}

// prove sees who dialled, and shows who this node is. A stranger gets random
// bytes and a refusal.
func (v *visit) prove(conn net.Conn) (slot, error) {
	ctx, cancel := native.WithTimeout(v.ctx, v.prober.cfg.Clock, proveWithin, "the proof of a connection")
	defer cancel()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	place, proof, err := v.judge(conn)
	answer := welcome{Proof: proof}
	if err != nil {
		answer = welcome{Refused: api.ReasonProbeTokenInvalid}
	}
	data, e := json.Marshal(answer)
	if e == nil {
		_, e = conn.Write(frame.Encode(data))
	}
	if !stop() {
		return place, context.Cause(ctx)
	}
	return place, either(err, e)
}

// judge reads a hello and signs the answer to one that is right.
func (v *visit) judge(conn net.Conn) (slot, []byte, error) {
	challenge := drawn(nonceBytes)
	if _, err := conn.Write(frame.Encode(challenge)); err != nil {
		return slot{}, nil, err
	}
	data, err := frame.Read(conn, frameLimit)
	if err != nil {
		return slot{}, nil, err
	}
	var h hello
	if err := h.read(data); err != nil {
		return slot{}, nil, err
	}
	local, ok := conn.LocalAddr().(*net.TCPAddr)
	if !ok || local.AddrPort().Addr().Unmap().WithZone("") != v.params.Sink {
		return slot{}, nil, api.NewError(api.ReasonProbeTokenInvalid, conn.LocalAddr().String())
	}
	b := bond{
		measurement: v.params.Measurement, measurer: v.from, measured: v.prober.cfg.Peers.Self(), sink: v.params.Sink, token: v.token,
		purpose: h.Purpose, stream: h.Stream, challenge: challenge, nonce: h.Nonce,
	}
	if !ed25519.Verify(v.key, b.dialled(), h.Proof) {
		return slot{}, nil, api.NewError(api.ReasonWrongIdentity, conn.RemoteAddr().String())
	}
	place := slot{h.Purpose, h.Stream}
	if !v.take(place, conn) {
		return slot{}, nil, api.NewError(api.ReasonProbeTokenInvalid, string(h.Purpose))
	}
	return place, ed25519.Sign(v.prober.cfg.Key, b.answered()), nil
}

// take takes a place that nobody had.
func (v *visit) take(place slot, conn net.Conn) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.used[place] || place.purpose != forControl && v.control == nil {
		return false
	}
	v.used[place], v.known[conn] = true, true
	return true
}

// use does with a connection what it is for.
func (v *visit) use(conn net.Conn, place slot) {
	switch place.purpose {
	case forControl:
		c := newControl(conn, &v.seen)
		v.mu.Lock()
		v.control = c
		v.mu.Unlock()
		close(v.here)
		stop := context.AfterFunc(v.ctx, func() { drop(conn) })
		defer stop()
		v.cancel(either(v.answer(c), errOver))
		conn.Close()
	case forUp:
		v.up.run(conn, drain(func(n int) {
			v.came.add(n)
			v.moved()
		}), nil)
	case forDown:
		v.down.run(conn, fill(v.noise, func(n int) {
			v.wrote.Add(int64(n))
			v.moved()
		}), nil)
	}
}
