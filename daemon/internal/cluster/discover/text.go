package discover

import (
	"strconv"
	"strings"

	"fulmen/daemon/api"
)

// ServiceType is what nodes announce themselves as.
const ServiceType = "_fulmen._tcp"

// The keys of the TXT record.
const (
	keyProtocol = "p"
	keyID       = "i"
	keyPairing  = "a"
	keyPairID   = "r"
)

// The lengths of ids.
const (
	dailyIDLength   = 32
	pairingIDLength = 8
)

// Text is what an announcement says.
type Text struct {
	// Protocol is the newest peer protocol of who announces.
	Protocol int
	// ID is its id of the day, 32 hexadecimal characters.
	ID string
	// Pairing is a random id, 8 Crockford characters, while it waits for another
	// Mac to be added, by which it is one entry on all interfaces; else empty.
	Pairing string
}

// ParseText reads a TXT record. It is false for what no version of Fulmen
// announces; keys that it does not know are passed over.
func ParseText(txt map[string]string) (Text, bool) {
	protocol, err := strconv.Atoi(txt[keyProtocol])
	if err != nil || protocol < 1 || strconv.Itoa(protocol) != txt[keyProtocol] {
		return Text{}, false
	}
	t := Text{Protocol: protocol, ID: txt[keyID]}
	if len(t.ID) != dailyIDLength || strings.Trim(t.ID, "0123456789abcdef") != "" {
		return Text{}, false
	}
	if txt[keyPairing] == "1" {
		t.Pairing = txt[keyPairID]
		if len(t.Pairing) != pairingIDLength || strings.Trim(t.Pairing, api.Crockford) != "" {
			return Text{}, false
		}
	}
	return t, true
}

// TXT is the record that says it.
func (t Text) TXT() map[string]string {
	txt := map[string]string{keyProtocol: strconv.Itoa(t.Protocol), keyID: t.ID}
	if t.Pairing != "" {
		txt[keyPairing], txt[keyPairID] = "1", t.Pairing
	}
	return txt
}
