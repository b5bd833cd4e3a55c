package lend

import (
	"context"
	"crypto/ed25519"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/gate"
	"fulmen/daemon/internal/grant"
	"fulmen/daemon/internal/ledger"
	"fulmen/daemon/internal/peer/peertest"
	"fulmen/native"
)

// silent is a machine that cannot be read, and nobody calls.
type silent struct{}

func (silent) Snapshot(context.Context, ...native.Area) (native.Snapshot, error) {
	return native.Snapshot{}, errors.New("not now")
}

func (silent) HandleCall(gate.Handler) {}

// everybody may have everything.
type everybody struct{}

func (everybody) Allows(api.Principal) (account string, reason api.Reason) { return "ada", "" }

const (
	theJob     = api.JobID("jaaaaaaaa")
	measuring  = api.MeasureID("maaaaaaaa")
	theirs     = api.NodeID("cpv0cwypxp44qw0p")
	portNumber = api.PortNumber(2)
)

// on runs a test with a lender, in a bubble.
func on(t *testing.T, change func(*Config), test func(is *is.I, l *Lender)) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		key := ed25519.NewKeyFromSeed([]byte(strings.Repeat("k", ed25519.SeedSize)))
		disk := &peertest.Disk{}
		held, writer, err := ledger.Open(ledger.Options{Key: key, Cluster: "a7937b64b8caa58f03721bb6bacf5c78", Counter: disk, Store: disk})
		if err != nil {
			t.Fatal(err)
		}
		c := Config{
			Self: held.Node(), Clock: native.ClockFrom(time.Now, func() time.Duration { return time.Since(began) }), Ledger: held,
			Documents: ledger.Documents{Writer: writer.Owner("grant", api.KindGrant)}, Facts: silent{}, Peers: silent{}, Policy: everybody{},
			Sharing: func() api.Sharing { return api.Sharing{} }, IsChanging: func() bool { return false },
			Device:   func(context.Context, []api.PortNumber) (api.Reason, string) { return "", "" },
			Obstacle: func(context.Context) *api.Error { return nil }, Ranks: func() []api.RankRef { return nil },
			Job: func(id api.JobID) (api.JobSpec, bool) {
				return api.JobSpec{Principal: api.Principal{User: "ada", Node: held.Node()}}, id == theJob
			},
			GPUWait: func() time.Duration { return time.Hour }, Lease: time.Minute,
			Name: func(api.NodeID) string { return "studio" }, Log: slog.New(slog.DiscardHandler),
		}
		change(&c)
		l := New(c)
		defer l.Close()
		test(is.New(t), l)
	})
}

// rank asks for the GPU for a rank of the job.
func (l *Lender) rank(t context.Context, wait time.Duration) (api.Grant, error) {
	return l.Ask(t, grant.Request{
		Holder: grant.ForRank(api.RankRef{Job: theJob, Attempt: 1}), Epoch: 1, Principal: api.Principal{User: "ada", Node: l.cfg.Self},
		GPU: api.GPUExclusive, PortNumbers: []api.PortNumber{portNumber}, Wait: wait,
	})
}

func asIs(*Config) {}

// A measurement gives way as soon as a job waits for what it has, and says to which.
func TestWorkGoesBeforeAMeasurement(t *testing.T) {
	on(t, asIs, func(is *is.I, l *Lender) {
		ctx := context.Background()
		held, release, err := l.Turn(ctx, ctx, measuring, nil, func(api.Reason, string) { t.Error("it waited") })
		is.NoErr(err)
		synctest.Wait()
		is.NoErr(held.Err())
		got := make(chan api.Grant, 1)
		go func() {
			lent, _ := l.rank(ctx, time.Minute)
			got <- lent
		}()
		<-held.Done()
		why := api.AsError(context.Cause(held))
		is.Equal(why.Data.Reason, api.ReasonJobHasNode)
		is.Equal(why.Data.WaitingFor, "job jaaaaaaaa of ada")
		release()
		is.Equal((<-got).State, api.GrantHeld)
	})
}

// Who measures waits for a job, and hears for whom.
func TestAMeasurementWaitsForAJob(t *testing.T) {
	on(t, asIs, func(is *is.I, l *Lender) {
		ctx := context.Background()
		lent, err := l.rank(ctx, 0)
		is.NoErr(err)
		is.Equal(lent.State, api.GrantHeld)
		is.Equal(l.Disturbed().Data.WaitingFor, "job jaaaaaaaa")
		var on string
		wait, stop := context.WithTimeout(ctx, 30*time.Second)
		defer stop()
		_, _, err = l.Turn(wait, ctx, measuring, nil, func(_ api.Reason, who string) { on = who })
		is.True(err != nil)
		is.Equal(on, "job jaaaaaaaa of ada")
		_, err = l.Visit(ctx, theirs, api.PeerMeasureParams{Measurement: measuring})
		is.Equal(api.AsError(err).Data.WaitingFor, "job jaaaaaaaa of ada on studio")
	})
}

// A test over RDMA keeps its device until it has ended.
func TestADeviceIsQuietAfterItsTest(t *testing.T) {
	on(t, asIs, func(is *is.I, l *Lender) {
		ctx := context.Background()
		release, err := l.VisitRDMA(ctx, theirs, measuring, portNumber)
		is.NoErr(err)
		within, stop := context.WithTimeout(ctx, time.Second)
		defer stop()
		is.Equal(l.Quiet(within, portNumber).Data.Reason, api.ReasonLinkBusy)
		is.Equal(l.Quiet(ctx, portNumber+1), nil)
		release()
		is.Equal(l.Quiet(ctx, portNumber), nil)
		is.Equal(l.Disturbed(), nil) // measurements do not count
	})
}

// Nothing is lent while the network is changed, nor measured where something speaks
// against it.
func TestWhatIsNotLent(t *testing.T) {
	on(t, func(c *Config) {
		c.IsChanging = func() bool { return true }
		c.Obstacle = func(context.Context) *api.Error { return api.NewError(api.ReasonOnBattery, "") }
	}, func(is *is.I, l *Lender) {
		ctx := context.Background()
		lent, err := l.rank(ctx, 0)
		is.NoErr(err)
		is.Equal(lent.State, api.GrantWaiting)
		is.Equal(lent.Reason, api.ReasonRDMAChangeRunning)
		_, err = l.Visit(ctx, theirs, api.PeerMeasureParams{Measurement: measuring})
		is.True(errors.Is(err, api.ReasonOnBattery))
		release, err := l.Visit(ctx, l.cfg.Self, api.PeerMeasureParams{Measurement: measuring})
		is.NoErr(err) // it holds this node already
		release()
	})
}
