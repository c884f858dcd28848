using System.Globalization;
using System.Text.Json;

namespace Net.Zlink.Scenarios.Patterns.Services.Chaos;

/// <summary>What a process of the run is.</summary>
internal enum ChaosRole
{
    Registry,
    Receiver,
    Gateway,
    Spot,
}

/// <summary>What a process is to do: its one argument, as JSON.</summary>
internal sealed record ChaosSettings
{
    public required ChaosRole Role { get; init; }

    /// <summary>Among those of its role, from 1.</summary>
    public required int Number { get; init; }

    /// <summary>Each start is another life, from 1.</summary>
    public int Life { get; init; }

    /// <summary>Where others reach it: of a registry, where receivers register.</summary>
    public string Endpoint { get; init; } = "";

    /// <summary>Of a registry: where it publishes its list.</summary>
    public string Publisher { get; init; } = "";

    /// <summary>Where to register.</summary>
    public IReadOnlyList<string> Routers { get; init; } = [];

    /// <summary>Whose lists to follow; of a registry, its peers.</summary>
    public IReadOnlyList<string> Publishers { get; init; } = [];

    /// <summary>Where its log is written.</summary>
    public string Folder { get; init; } = "";

    /// <summary>Requests or messages a second.</summary>
    public int Rate { get; init; }

    public string Name => string.Create(CultureInfo.InvariantCulture, $"{Role.ToString().ToLowerInvariant()}-{Number}");

    public string LogFile => Path.Combine(Folder, string.Create(CultureInfo.InvariantCulture, $"{Name}-{Life}.log"));

    public static ChaosSettings Parse(string text) =>
        JsonSerializer.Deserialize<ChaosSettings>(text) ?? throw new FormatException("The settings of the process are empty.");

    public string ToText() => JsonSerializer.Serialize(this);
}
