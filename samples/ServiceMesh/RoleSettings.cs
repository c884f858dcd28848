using System.Text.Json;

namespace ServiceMesh;

internal enum RoleKind
{
    Registry,
    Receiver,
    Gateway,
}

/// <summary>What a process of the mesh is to be: its one argument, as JSON.</summary>
internal sealed record RoleSettings
{
    public required RoleKind Kind { get; init; }

    public int Number { get; init; }

    /// <summary>Of a registry: where it publishes its list.</summary>
    public string Publisher { get; init; } = "";

    /// <summary>Of a registry: where receivers register. Of a receiver: where gateways connect.</summary>
    public string Endpoint { get; init; } = "";

    /// <summary>Of a registry: its peers. Of a receiver: the registries. Of a gateway: their publishers.</summary>
    public string[] Others { get; init; } = [];

    /// <summary>Of a receiver: one request gets no reply.</summary>
    public bool LosesRequest { get; init; }

    public static RoleSettings Parse(string text) =>
        JsonSerializer.Deserialize<RoleSettings>(text) ?? throw new FormatException("The settings of the role are empty.");

    public string ToText() => JsonSerializer.Serialize(this);
}

/// <summary>What a process says about itself, four times a second: one line of JSON on its standard output.</summary>
internal sealed record RoleStatus
{
    /// <summary>Of a registry: what it lists. Of a gateway: the receivers that are ready.</summary>
    public string[] Listed { get; init; } = [];

    /// <summary>Of a registry: connected peers. Of a receiver: registries that list it.</summary>
    public int Connected { get; init; }

    /// <summary>Requests: handled by a receiver, or begun by a gateway.</summary>
    public long Requests { get; init; }

    /// <summary>Of a gateway: requests with a right reply.</summary>
    public long Answered { get; init; }

    /// <summary>Of a gateway: requests that ended without a right reply.</summary>
    public long Unanswered { get; init; }

    /// <summary>Of a gateway: requests whose receiver was lost before the reply, sent once more.</summary>
    public long Repeated { get; init; }

    /// <summary>Of a gateway: requests that a receiver refused, sent to the next one.</summary>
    public long Passed { get; init; }

    /// <summary>Of a gateway: replies by the endpoint of their receiver.</summary>
    public Dictionary<string, long> Replies { get; init; } = [];

    /// <summary>Of a gateway: milliseconds that 99 of 100 of the last requests took at most.</summary>
    public double Percentile99 { get; init; }

    /// <summary>A sentence for people: why it is not well.</summary>
    public string Remark { get; init; } = "";
}
