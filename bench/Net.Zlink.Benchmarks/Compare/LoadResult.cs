using System.Text.Json;
using System.Text.Json.Serialization;

namespace Net.Zlink.Benchmarks.Compare;

/// <summary>The line of JSON that a load generator prints.</summary>
internal sealed record LoadResult
{
    [JsonPropertyName("result")]
    [JsonRequired]
    public string Result { get; init; } = "";

    [JsonPropertyName("connect_ok")]
    public int Connected { get; init; }

    [JsonPropertyName("connect_fail")]
    public int ConnectFailures { get; init; }

    [JsonPropertyName("connect_s")]
    [JsonRequired]
    public double ConnectSeconds { get; init; }

    [JsonPropertyName("sent")]
    public long Sent { get; init; }

    [JsonPropertyName("recv")]
    public long Received { get; init; }

    [JsonPropertyName("incomplete")]
    public long Incomplete { get; init; }

    [JsonPropertyName("msgs_per_s")]
    [JsonRequired]
    public double MessagesPerSecond { get; init; }

    [JsonPropertyName("p50_us")]
    public double P50 { get; init; }

    [JsonPropertyName("p99_us")]
    public double P99 { get; init; }

    [JsonPropertyName("p999_us")]
    public double P999 { get; init; }

    [JsonPropertyName("max_us")]
    public double Max { get; init; }

    [JsonPropertyName("errors")]
    public long Errors { get; init; }

    [JsonPropertyName("violations")]
    public long Violations { get; init; }

    [JsonPropertyName("client_cpu_s")]
    public double ClientCpuSeconds { get; init; }

    /// <summary>Every connection made, every reply checked and right, nothing outstanding at the end.</summary>
    [JsonIgnore]
    public bool Passed => string.Equals(Result, "PASS", StringComparison.Ordinal);

    /// <summary>Reads the line; on failure says why in <paramref name="fault"/>.</summary>
    public static LoadResult? Parse(string? line, out string? fault)
    {
        if (string.IsNullOrWhiteSpace(line))
        {
            fault = "the load generator printed no result";
            return null;
        }

        try
        {
            fault = null;
            return JsonSerializer.Deserialize<LoadResult>(line);
        }
        catch (JsonException e)
        {
            fault = $"the load generator's result is not understood: {e.Message}";
            return null;
        }
    }

    /// <summary>What was wrong, for a result that did not pass.</summary>
    public string Describe() =>
        Passed ? Result : $"{Result}: {Connected} connected, {ConnectFailures} not, {Errors} lost connections, {Violations} wrong "
            + $"replies, {Incomplete} replies missing";
}
