package remote

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"

	"fulmen/native"
	"fulmen/native/frame"
	"fulmen/native/sim/loopback"
)

// protocol is the version of what is said here. Both sides are of one build; who
// is not, finds out at once.
const protocol = 1

// maxMessage is the longest message in bytes; the facts of a Mac with sixteen
// neighbours are some 40 kB.
const maxMessage = 1 << 20

// message is a request (it has a method), the answer to one (a result or an
// error), or news of what one began (an event).
type message struct {
	ID     uint64          `json:"id"`
	Method method          `json:"method,omitzero"`
	Params json.RawMessage `json:"params,omitzero"`
	Result json.RawMessage `json:"result,omitzero"`
	Event  json.RawMessage `json:"event,omitzero"`
	Error  *failure        `json:"error,omitzero"`
}

// isRequest tells requests from what answers them.
func (m message) isRequest() bool { return m.Method != "" }

// parse reads a message and refuses whatever is none.
func parse(data []byte) (message, error) {
	var m message
	if err := strictly(data, &m); err != nil {
		return message{}, err
	}
	kinds := 0
	for _, has := range []bool{m.isRequest(), m.Result != nil, m.Event != nil, m.Error != nil} {
		if has {
			kinds++
		}
	}
	if m.ID == 0 || kinds != 1 || m.Params != nil && !m.isRequest() {
		return message{}, errors.New("a message is a request, a result, an event or an error, with an id")
	}
	if m.Error != nil {
		return m, m.Error.check(maxCauses)
	}
	return m, nil
}

// strictly reads one value and refuses fields that are not known.
func strictly(data []byte, value any) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(value); err != nil {
		return err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return errors.New("more than one value")
	}
	return nil
}

// read reads the next message.
func read(r io.Reader) (message, error) {
	data, err := frame.Read(r, maxMessage)
	if err != nil {
		return message{}, err
	}
	return parse(data)
}

// encode makes the bytes of a message, its length before it.
func encode(m message) ([]byte, error) {
	data, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	if len(data) > maxMessage {
		return nil, fmt.Errorf("a message of %d bytes is too long: at most %d are allowed", len(data), maxMessage)
	}
	return frame.Encode(data), nil
}

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
