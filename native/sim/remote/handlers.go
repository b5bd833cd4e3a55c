package remote

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"

	"fulmen/native"
	"fulmen/native/sim/loopback"
	"fulmen/native/sim/scenario"
)

// handler answers a request. stop ends what it has begun, nil where that is
// nothing.
type handler func(ctx context.Context, s *session, id uint64, raw json.RawMessage) (result any, stop func(), err error)

// on makes a handler of a function with parameters.
func on[P any](f func(ctx context.Context, s *session, id uint64, p P) (any, func(), error)) handler {
	return func(ctx context.Context, s *session, id uint64, raw json.RawMessage) (any, func(), error) {
		var p P
		if err := strictly(raw, &p); err != nil {
			return nil, nil, err
		}
		return f(ctx, s, id, p)
	}
}

// plain makes a handler of a function that begins nothing.
func plain[P any](f func(ctx context.Context, s *session, p P) (any, error)) handler {
	return on(func(ctx context.Context, s *session, _ uint64, p P) (any, func(), error) {
		result, err := f(ctx, s, p)
		return result, nil, err
	})
}

// begun is what a function of a platform gives.
func begun(stop func() error, err error) (any, func(), error) {
	if err != nil {
		return nil, nil, err
	}
	return empty{}, func() { _ = stop() }, nil
}

func handlers() map[method]handler {
	return map[method]handler{
		methodEnd: plain(func(_ context.Context, s *session, p endParams) (any, error) {
			s.end(p.Request)
			return empty{}, nil
		}),
		methodApply: plain(func(_ context.Context, s *session, p applyParams) (any, error) {
			op, err := scenario.ParseOp(p.Line)
			if err != nil {
				return nil, err
			}
			return empty{}, s.world.Apply(op)
		}),
		methodRecorded: plain(func(_ context.Context, s *session, p recordedParams) (any, error) {
			return s.world.Recorded(p.Mac)
		}),
		methodLeave: plain(func(_ context.Context, s *session, _ empty) (any, error) {
			s.leave()
			return empty{}, nil
		}),
		methodSnapshot: plain(func(ctx context.Context, s *session, p snapshotParams) (any, error) {
			return s.platform.Facts.Snapshot(ctx, p.Areas...)
		}),
		methodCapabilities: plain(func(ctx context.Context, s *session, _ empty) (any, error) {
			return s.platform.Facts.Capabilities(ctx)
		}),
		methodWatch: on(func(_ context.Context, s *session, id uint64, _ empty) (any, func(), error) {
			return begun(s.platform.Facts.Watch(func(h native.Hint) { s.queueCall(id, h) }))
		}),
		methodNotices: on(func(_ context.Context, s *session, id uint64, _ empty) (any, func(), error) {
			return begun(s.platform.Power.Notices(func(n native.PowerNotice) { s.queueCall(id, n) }))
		}),
		methodAcknowledge: plain(func(ctx context.Context, s *session, p noticeParams) (any, error) {
			return empty{}, s.platform.Power.Acknowledge(ctx, p.Notice)
		}),
		methodKeepAwake: on(func(ctx context.Context, s *session, _ uint64, p awakeParams) (any, func(), error) {
			return begun(s.platform.Power.KeepAwake(ctx, p.Reason))
		}),
		methodAnnounce: on(func(ctx context.Context, s *session, _ uint64, p native.Announcement) (any, func(), error) {
			return begun(s.platform.Discovery.Announce(ctx, p))
		}),
		methodBrowse: on(func(ctx context.Context, s *session, id uint64, p browseParams) (any, func(), error) {
			return begun(s.platform.Discovery.Browse(ctx, p.Type, p.Interfaces, func(seen native.Sighting) { s.queueCall(id, seen) }))
		}),
		methodCreate: plain(func(ctx context.Context, s *session, p native.ServiceSpec) (any, error) {
			return s.platform.Network.CreateService(ctx, p)
		}),
		methodDelete: plain(func(ctx context.Context, s *session, p native.NetworkService) (any, error) {
			return empty{}, s.platform.Network.DeleteService(ctx, p)
		}),
		methodBridge: plain(func(ctx context.Context, s *session, p bridgeParams) (any, error) {
			return empty{}, s.platform.Network.SetBridgeMember(ctx, p.Bridge, p.Interface, p.Member)
		}),
		methodOpen:    on(listenOn),
		methodConnect: on(connect),
		methodAnswer:  on(answer),
	}
}

func listenOn(ctx context.Context, s *session, _ uint64, p openParams) (any, func(), error) {
	if !p.At.Addr().IsLoopback() {
		return nil, nil, fmt.Errorf("only loopback addresses are accepted, not %s", p.At)
	}
	openPort, err := s.exchange.Open(ctx, p.Interface, netip.AddrPortFrom(p.Address, p.Port), p.At)
	return openResult{Port: openPort.Port}, openPort.Close, err
}

func connect(ctx context.Context, s *session, id uint64, p connectParams) (any, func(), error) {
	flow, err := s.exchange.Connect(ctx, p.Interface, p.Source, p.To, s.states(id))
	return resultOf(flow), flow.Close, err
}

func answer(ctx context.Context, s *session, id uint64, p answerParams) (any, func(), error) {
	flow, err := s.exchange.Answer(ctx, p.Token, s.states(id))
	return resultOf(flow), flow.Close, err
}

func (s *session) states(id uint64) func(loopback.State) {
	return func(state loopback.State) { s.queueCall(id, state) }
}
