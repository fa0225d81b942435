package resources

import "encoding/json"

// Prefixes of the ids of security groups and their rules (specification, "Common
// conventions").
const (
	PrefixSecurityGroup     = "sg"
	PrefixSecurityGroupRule = "sgr"
)

// Statuses of a security group (specification, "Security group"). A new group is active. The
// statuses pending, error and deleting are for the service that applies rules to a network.
const (
	SecurityGroupActive   = "active"
	SecurityGroupPending  = "pending"
	SecurityGroupError    = "error"
	SecurityGroupDeleting = "deleting"
	SecurityGroupDeleted  = "deleted"
)

// Directions of a rule, seen from the machines that the group protects.
const (
	DirectionIngress = "ingress"
	DirectionEgress  = "egress"
)

// SecurityGroup is a virtual firewall of one project (specification, "Security group"). It is
// stored in the form of responses.
type SecurityGroup struct {
	ID        string `json:"id"`
	AccountID string `json:"account_id"`
	ProjectID string `json:"project_id"`
	// Name is unique among the groups of the project that are not deleted.
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Status      string `json:"status"`
	// Metadata is the object that the client sent, byte for byte; nil is none.
	Metadata json.RawMessage `json:"metadata,omitempty"`
	// Rules are in the order in which they were added. It is never nil, so JSON shows [].
	Rules     []SecurityGroupRule `json:"rules"`
	CreatedAt Time                `json:"created_at"`
	UpdatedAt Time                `json:"updated_at"`
	IsDeleted bool                `json:"is_deleted"`
}

// SecurityGroupRule is a rule that lets traffic through (specification, "Security group
// rule"), in its canonical form.
type SecurityGroupRule struct {
	ID              string `json:"id"`
	SecurityGroupID string `json:"security_group_id"`
	Direction       string `json:"direction"`
	// Protocol is tcp, udp, icmp, or the decimal number of another protocol.
	Protocol string `json:"protocol"`
	// PortRangeMin and PortRangeMax are the first and the last port, 0 to 65535. Both are
	// nil for every port.
	PortRangeMin *int `json:"port_range_min,omitempty"`
	PortRangeMax *int `json:"port_range_max,omitempty"`
	// RemoteIPPrefix is a CIDR without host bits, IPv6 in the form of RFC 5952. At most one of
	// it and RemoteSecurityGroupID is set; without both the rule matches every address.
	RemoteIPPrefix        string `json:"remote_ip_prefix,omitempty"`
	RemoteSecurityGroupID string `json:"remote_security_group_id,omitempty"`
	// ICMPType and ICMPCode are 0 to 255; nil is every value.
	ICMPType *int `json:"icmp_type,omitempty"`
	ICMPCode *int `json:"icmp_code,omitempty"`
	// Priority is 0 to 32767; rules of lower values come first.
	Priority    int    `json:"priority"`
	Description string `json:"description,omitempty"`
	CreatedAt   Time   `json:"created_at"`
	UpdatedAt   Time   `json:"updated_at"`
	IsDeleted   bool   `json:"is_deleted"`
}
