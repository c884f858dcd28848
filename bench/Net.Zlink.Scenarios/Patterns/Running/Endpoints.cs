namespace Net.Zlink.Scenarios.Patterns.Running;

/// <summary>Where a server binds.</summary>
internal static class Endpoints
{
    public static string Of(string transport) => transport switch
    {
        "inproc" => "inproc://pattern",
        "ipc" => "ipc://*",
        _ => transport + "://127.0.0.1:*",
    };
}

/// <summary>A transport that this build, or the native library, does not have: nothing to measure, and no failure.</summary>
internal sealed class NotInThisBuildException(string message) : Exception(message);
