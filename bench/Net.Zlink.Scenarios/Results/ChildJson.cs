using System.Text.Json;
using System.Text.Json.Serialization;
using Net.Zlink.Scenarios.Load;

namespace Net.Zlink.Scenarios.Results;

/// <summary>What a child process says to the runner, one line each: a word, a blank, and JSON.</summary>
internal static class ChildLines
{
    /// <summary>A server listens; behind it the endpoint.</summary>
    public const string Ready = "READY ";

    /// <summary>A server's <see cref="ProcessSample"/>, once a second.</summary>
    public const string Status = "STATUS ";

    /// <summary>A client's <see cref="LoadProgress"/>.</summary>
    public const string Progress = "PROGRESS ";

    /// <summary>A client's <see cref="LoadReport"/>: its last line.</summary>
    public const string Report = "REPORT ";
}

/// <summary>One line of --json: one of the members is there.</summary>
internal sealed record JsonLine
{
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)]
    public ProgressLine? Progress { get; init; }

    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)]
    public Round? Round { get; init; }

    /// <summary>The last line.</summary>
    [JsonIgnore(Condition = JsonIgnoreCondition.WhenWritingNull)]
    public Summary? Summary { get; init; }
}

/// <summary>How a round goes.</summary>
internal sealed record ProgressLine(string Title, LoadProgress Client, ProcessSample? Server);

/// <summary>How the lines look: one line each.</summary>
[JsonSourceGenerationOptions(JsonSerializerDefaults.Web, UseStringEnumConverter = true,
    NumberHandling = JsonNumberHandling.AllowNamedFloatingPointLiterals)]
[JsonSerializable(typeof(ProcessSample))]
[JsonSerializable(typeof(LoadProgress))]
[JsonSerializable(typeof(LoadReport))]
[JsonSerializable(typeof(JsonLine))]
internal sealed partial class ChildJson : JsonSerializerContext;
