namespace Net.Zlink.Scenarios.Patterns;

/// <summary>Who is measured, by the names in RESULT lines.</summary>
internal static class PatternStack
{
    /// <summary>Ours, one message a call.</summary>
    public const string Managed = "net-zlink";

    /// <summary>Ours, received in batches (ReceiveMany).</summary>
    public const string Batch = "net-zlink-batch";

    /// <summary>The native library: through P/Invoke, or its own programs.</summary>
    public const string Native = "native";

    public static string Of(string api) => api is PatternNames.BatchApi ? Batch : Managed;

    public static string ApiOf(string stack) => stack is Batch ? PatternNames.BatchApi : PatternNames.SingleApi;
}
