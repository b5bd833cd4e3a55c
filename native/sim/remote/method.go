package remote

import (
	"net/netip"

	"fulmen/native"
	"fulmen/native/sim/loopback"
)

// method is what a request asks for.
type method string

// The methods. All but the first four are a Mac's.
const (
	methodHello    method = "hello" // the first of a connection
	methodEnd      method = "end"   // of a request, or of what it began
	methodApply    method = "apply"
	methodRecorded method = "recorded"

	methodLeave        method = "leave" // the Mac's process is done with it
	methodSnapshot     method = "snapshot"
	methodCapabilities method = "capabilities"
	methodWatch        method = "watch" // events: native.Hint
	methodNotices      method = "notices"
	methodAcknowledge  method = "acknowledge"
	methodKeepAwake    method = "keep_awake"
	methodAnnounce     method = "announce"
	methodBrowse       method = "browse" // events: native.Sighting
	methodCreate       method = "create_service"
	methodDelete       method = "delete_service"
	methodBridge       method = "set_bridge_member"
	methodOpen         method = "open"
	methodConnect      method = "connect" // events: loopback.State
	methodAnswer       method = "answer"  // events: loopback.State
)

type helloParams struct {
	Protocol int `json:"protocol"`
	// Mac is whose platform the connection is; empty: nobody's.
	Mac string `json:"mac,omitzero"`
}

type helloResult struct {
	Scenario string   `json:"scenario"`
	Macs     []string `json:"macs"`
}

type endParams struct {
	Request uint64 `json:"request"`
}

type applyParams struct {
	Line string `json:"line"`
}

type recordedParams struct {
	Mac string `json:"mac"`
}

type snapshotParams struct {
	Areas []native.Area `json:"areas"`
}

type noticeParams struct {
	Notice string `json:"notice"`
}

type awakeParams struct {
	Reason string `json:"reason"`
}

type browseParams struct {
	Type       string   `json:"type"`
	Interfaces []string `json:"interfaces,omitzero"`
}

type bridgeParams struct {
	Bridge    string `json:"bridge"`
	Interface string `json:"interface"`
	Member    bool   `json:"member"`
}

type openParams struct {
	Interface string         `json:"interface,omitzero"`
	Address   netip.Addr     `json:"address,omitzero"`
	Port      uint16         `json:"port,omitzero"`
	At        netip.AddrPort `json:"at"`
}

type openResult struct {
	Port int `json:"port"`
}

type connectParams struct {
	Interface string         `json:"interface,omitzero"`
	Source    netip.Addr     `json:"source,omitzero"`
	To        netip.AddrPort `json:"to"`
}

type answerParams struct {
	Token string `json:"token"`
}

type flowResult struct {
	At     netip.AddrPort `json:"at,omitzero"`
	Token  string         `json:"token,omitzero"`
	Local  netip.AddrPort `json:"local"`
	Remote netip.AddrPort `json:"remote"`
}

func resultOf(f loopback.Flow) flowResult {
	return flowResult{At: f.At, Token: f.Token, Local: f.Local, Remote: f.Remote}
}

// empty is the result of what gives none.
type empty struct{}
