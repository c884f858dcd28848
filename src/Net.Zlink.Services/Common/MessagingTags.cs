namespace Net.Zlink.Services;

/// <summary>The tags of spans and metrics, after OpenTelemetry's conventions for messaging, version 1.39.0.</summary>
internal static class MessagingTags
{
    public const string System = "messaging.system";
    public const string Zlink = "zlink";
    public const string Destination = "messaging.destination.name";
    public const string OperationName = "messaging.operation.name";
    public const string OperationType = "messaging.operation.type";
    public const string Error = "error.type";
    public const string ServerAddress = "server.address";
    public const string ServerPort = "server.port";

    public static KeyValuePair<string, object?>[] Of(string operation, string operationType) =>
        [new(System, Zlink), new(OperationName, operation), new(OperationType, operationType)];
}
