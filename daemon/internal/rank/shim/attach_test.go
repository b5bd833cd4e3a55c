package shim_test

import (
	"os"
	"testing"

	"github.com/matryer/is"

	"fulmen/daemon/internal/rank/shimproto"
)

func TestALeaseThatRunsOutEndsTheRank(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	spec := specOf(t, `exec sleep 1000`)
	spec.LeaseS = 0.5
	r := hold(t, spec).wait() // no daemon ever came
	is.Equal(r.Signal, "SIGTERM")
	is.Equal(r.Cause.Reason, "lease_expired")
	is.True(r.ElapsedS >= 0.5)
}

func TestALeaseThatRunsOutKillsWhatIgnoresTheSignal(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	spec := specOf(t, `trap '' TERM; echo $$; while :; do sleep 0.01; done`)
	spec.GraceS = 0.2
	h := hold(t, spec)
	pids := h.pids(1) // it ignores the signal from here on, however long it took to start
	d, _ := h.attach(3)
	d.send(shimproto.Renew{RequestHeader: d.header(3), LeaseS: 0.1})
	r := d.exit()
	is.Equal(r.Signal, "SIGKILL")
	is.Equal(r.Cause.Reason, "lease_expired")
	is.True(r.KilledAfterGrace)
	is.True(r.ElapsedS >= 0.3)
	gone(t, pids...)
}

func TestRenewalKeepsARank(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	h := hold(t, specOf(t, `sleep 1000`)) // for a minute
	d, _ := h.attach(3)
	d.send(shimproto.Renew{RequestHeader: d.header(3), LeaseS: 100})
	status := d.answer().(shimproto.Status)
	is.True(status.LeaseLeftS > 90 && status.LeaseLeftS <= 100)
	d.send(shimproto.Renew{RequestHeader: d.header(3), LeaseS: 0.1})
	d.until(shimproto.PhaseEnding)
	// What is over stays over.
	d.send(shimproto.Renew{RequestHeader: d.header(3), LeaseS: 100})
	is.Equal(d.exit().Cause.Reason, "lease_expired")
}

func TestAFormerDaemonRenewsNothing(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	h := hold(t, specOf(t, `sleep 1000`))
	former, _ := h.attach(3)
	former.running(3)
	next, _ := h.attach(3)
	next.send(shimproto.Renew{RequestHeader: next.header(3), LeaseS: 50})
	is.True(next.answer().(shimproto.Status).LeaseLeftS <= 50)
	former.send(shimproto.Renew{RequestHeader: former.header(3), LeaseS: 1000}) // read late
	is.True(former.answer().(shimproto.Status).LeaseLeftS <= 50)
}

func TestAShimOutlivesItsDaemon(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	h := hold(t, specOf(t, `sleep 1000`))
	first, _ := h.attach(3)
	before := first.running(3)
	is.NoErr(first.conn.Close()) // as a daemon that was killed

	second, greeting := h.attach(3)
	is.Equal(greeting.Phase, shimproto.PhaseRunning)
	is.Equal(second.running(3).PID, before.PID)

	// Two daemons at once hear the same end.
	third, _ := h.attach(3)
	third.send(third.stopFor(3, 0))
	is.Equal(second.exit().PID, before.PID)
	r := third.exit()
	is.Equal(r.Signal, "SIGKILL")
	is.True(!r.KilledAfterGrace) // there was no grace
}

func TestAFormerHomeIsRefused(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	h := hold(t, specOf(t, `sleep 1000`))
	old, _ := h.attach(3)
	old.running(3)
	next, greeting := h.attach(5)
	is.Equal(greeting.Epoch, int64(5))

	old.send(old.stopFor(3, 0))
	refusal := old.answer().(shimproto.Refusal)
	is.Equal(refusal.Reason, shimproto.RefuseStaleEpoch)
	is.Equal(refusal.Epoch, int64(5))
	next.running(5) // and nothing happened

	late := &daemon{t: t, conn: shimproto.NewDaemonConn(dial(t, h.spec.Socket)), spec: h.spec}
	late.send(shimproto.Query{RequestHeader: late.header(5)})
	is.Equal(late.receive().(shimproto.Refusal).Reason, shimproto.RefuseNoHello)
	late.send(shimproto.Hello{RequestHeader: late.header(4), Ref: h.spec.Ref, Versions: shimproto.OwnVersions(), PID: 1})
	is.Equal(late.receive().(shimproto.Refusal).Reason, shimproto.RefuseStaleEpoch)

	next.send(next.stopFor(5, 0))
	is.Equal(next.exit().Epoch, int64(5))
}

func TestNonsenseIsRefusedAndTheConnectionGoesOn(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	h := hold(t, specOf(t, `sleep 1000`))
	conn := dial(t, h.spec.Socket)
	_, err := conn.Write([]byte("{\"t\":\"renew\",\"id\":9}\n{\"t\":\"dance\",\"id\":10,\"epoch\":3}\n"))
	is.NoErr(err)
	d := &daemon{t: t, conn: shimproto.NewDaemonConn(conn), spec: h.spec}
	first := d.receive().(shimproto.Refusal)
	is.Equal(first.Re, uint64(9))
	is.Equal(first.Reason, shimproto.RefuseMalformed)
	is.Equal(d.receive().(shimproto.Refusal).Reason, shimproto.RefuseUnknown)
}

func TestTheSocketIsForItsOwner(t *testing.T) {
	t.Parallel()
	is := is.New(t)
	h := hold(t, specOf(t, `sleep 1000`))
	dial(t, h.spec.Socket)
	info, err := os.Stat(h.spec.Socket)
	is.NoErr(err)
	is.Equal(info.Mode().Perm(), os.FileMode(0o600))
}
