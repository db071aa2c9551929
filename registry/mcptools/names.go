package mcptools

import (
	"crypto/sha256"
	"encoding/hex"
	"unicode/utf16"
)

const (
	maxToolName   = 64
	maxServerName = 32
	hashDigits    = 12
)

// PublicName is the name under which the tool raw of the server is registered: a pure function of the two (MCP-6 to MCP-9).
func PublicName(server, raw string) string {
	return fit("mcp__"+server+"__"+raw, server+"\x00"+raw, maxToolName)
}

// ServerName turns a configuration file's key into a legal server name by the same scheme with limit 32 (CLI-14). A legal key is
// its own name.
func ServerName(key string) string {
	return fit(key, key, maxServerName)
}

// fit returns text if it is at most limit characters out of [A-Za-z0-9_-]; otherwise it replaces and cuts, and makes up for the
// loss by a hash over identity.
func fit(text, identity string, limit int) string {
	units := utf16.Encode([]rune(text)) // the scheme counts UTF-16 units
	clean := make([]byte, len(units))
	changed := len(units) > limit || len(units) == 0
	for i, unit := range units {
		if unit < 0x80 && nameByte(byte(unit)) {
			clean[i] = byte(unit)
			continue
		}
		clean[i] = '_'
		changed = true
	}
	if !changed {
		return text
	}
	sum := sha256.Sum256([]byte(identity))
	kept := clean[:min(len(clean), limit-hashDigits-1)]
	return string(kept) + "_" + hex.EncodeToString(sum[:])[:hashDigits]
}

func nameByte(b byte) bool {
	return b == '_' || b == '-' || '0' <= b && b <= '9' || 'A' <= b && b <= 'Z' || 'a' <= b && b <= 'z'
}

func legalServerName(name string) bool {
	if name == "" || len(name) > maxServerName {
		return false
	}
	for i := range len(name) {
		if !nameByte(name[i]) {
			return false
		}
	}
	return true
}
