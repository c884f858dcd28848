namespace Net.Zlink;

/// <summary>The names and the version of this library.</summary>
public static class ZlinkLibrary
{
    /// <summary>The name of every context's meter, for <c>AddMeter</c> (docs/monitoring.md).</summary>
    public const string MeterName = "Net.Zlink";

    /// <summary>The category of every log message, for filters (docs/monitoring.md).</summary>
    public const string LogCategory = "Net.Zlink";

    /// <summary>The version of this library.</summary>
    public static Version Version { get; } = typeof(ZlinkLibrary).Assembly.GetName().Version!;
}
