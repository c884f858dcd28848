using Microsoft.Extensions.Logging;

namespace Net.Zlink.Services;

/// <summary>
/// Every line that the services log: 2000 to 2099 of loops and the registry, 2100 to 2199 of discovery, registration and receiver, 2200 to
/// 2299 of the gateway. Event ids are stable: a retired one is never used again.
/// </summary>
internal static partial class ServicesLog
{
    public const string Category = "Net.Zlink.Services";

    [LoggerMessage(2000, LogLevel.Error, "The {Loop} loop failed once and continues")]
    public static partial void TurnFailed(ILogger logger, Exception exception, string loop);

    /// <summary>As <see cref="TurnFailed"/>. A logger that throws does not end the loop.</summary>
    public static void TryTurnFailed(ILogger logger, Exception exception, string loop)
    {
        try
        {
            TurnFailed(logger, exception, loop);
        }
        catch (Exception)
        {
            // Where nothing can be logged this cannot, either.
        }
    }

    [LoggerMessage(2001, LogLevel.Error, "Registry {Id}: the admission callback threw; {Service} at {Endpoint} is refused for now")]
    public static partial void AdmissionFailed(ILogger logger, Exception exception, uint id, string service, RedactedEndpoint endpoint);

    [LoggerMessage(2002, LogLevel.Warning, "Registry {Id}: {What}; the two registries ignore each other until one gets another number")]
    public static partial void RegistryIdConflict(ILogger logger, uint id, string what);

    [LoggerMessage(2003, LogLevel.Information, "Registry {Id}: {Service} at {Endpoint} expired: {Text}")]
    public static partial void EntryExpired(ILogger logger, uint id, string service, RedactedEndpoint endpoint, string text);

    [LoggerMessage(2004, LogLevel.Warning, "Registry {Id}: {Service} at {Endpoint} was refused: {Text}")]
    public static partial void EntryRefused(ILogger logger, uint id, string service, RedactedEndpoint endpoint, string text);

    [LoggerMessage(2005, LogLevel.Debug, "Registry {Id}: {Change}: {Service} at {Endpoint}, weight {Weight}, of registry {Owner}")]
    public static partial void EntryChanged(
        ILogger logger, uint id, Enum change, string service, RedactedEndpoint endpoint, uint weight, uint owner);

    [LoggerMessage(2006, LogLevel.Information, "Registry {Id}: peer registry {Peer} is up at {Address}")]
    public static partial void PeerUp(ILogger logger, uint id, uint peer, RedactedEndpoint address);

    [LoggerMessage(2007, LogLevel.Warning, "Registry {Id}: the entries of peer registry {Peer} were dropped: {Why}")]
    public static partial void PeerDown(ILogger logger, uint id, uint peer, string why);

    [LoggerMessage(2008, LogLevel.Information, "Registry {Id} is up: publisher {Publisher}, router {Router}, first list {Sequence}")]
    public static partial void RegistryStarted(
        ILogger logger, uint id, RedactedEndpoint publisher, RedactedEndpoint router, ulong sequence);

    [LoggerMessage(2009, LogLevel.Warning,
        "Registry {Id}: the subscriber at {Address} left {Messages} messages unread and was disconnected")]
    public static partial void SubscriberFull(ILogger logger, uint id, RedactedEndpoint address, long messages);

    [LoggerMessage(2010, LogLevel.Warning,
        "Registry {Id}: {Bytes} bytes of requests of the client at {Address} wait for admission; it was disconnected")]
    public static partial void TooMuchWaits(ILogger logger, uint id, RedactedEndpoint address, long bytes);

    [LoggerMessage(2011, LogLevel.Warning,
        "Registry {Id}: the list is full; entries of registry {Peer} are left out until the list has space")]
    public static partial void EntriesLeftOut(ILogger logger, uint id, uint peer);
    [LoggerMessage(2100, LogLevel.Error, "The handler of {Service} threw; who sent the request gets a failure")]
    public static partial void HandlerFailed(ILogger logger, Exception exception, string service);

    [LoggerMessage(2105, LogLevel.Error,
        "The serializer does not know {Type}, so requests of this type fail; logged once per type and receiver")]
    public static partial void SerializerFailed(ILogger logger, Exception exception, string type);

    [LoggerMessage(2101, LogLevel.Warning,
        "The registry {Registry} does not answer the registration of {Endpoint}, not even over another connection: another receiver may "
        + "have registered the same endpoint there")]
    public static partial void RegistryDoesNotAnswer(ILogger logger, RedactedEndpoint registry, RedactedEndpoint endpoint);

    [LoggerMessage(2102, LogLevel.Warning,
        "The registry {Registry} refused {Service} at {Endpoint}: {Text}; registering is retried after {Seconds} s, then after longer "
        + "pauses")]
    public static partial void RegistrationRefused(
        ILogger logger, RedactedEndpoint registry, string service, RedactedEndpoint endpoint, string text, double seconds);

    [LoggerMessage(2103, LogLevel.Warning,
        "The registry {Registry} accepted {Service} at {Endpoint}, but the lists that this process follows do not contain it")]
    public static partial void RegistrationUnconfirmed(
        ILogger logger, RedactedEndpoint registry, string service, RedactedEndpoint endpoint);

    [LoggerMessage(2104, LogLevel.Error,
        "A list of the registry at {Registry} was rejected: {Why}. The previous list is kept. If the list exceeds "
        + "MaxMessageParts or MaxMessageSize of the discovery's socket, raise them in RegistryDirectoryOptions.Socket")]
    public static partial void ListNotTaken(ILogger logger, RedactedEndpoint registry, string why);

    [LoggerMessage(2200, LogLevel.Information, "The receiver of {Service} at {Endpoint} is ready")]
    public static partial void ReceiverReady(ILogger logger, string service, RedactedEndpoint endpoint);

    [LoggerMessage(2201, LogLevel.Information, "The receiver of {Service} at {Endpoint} is not ready: {Reason}")]
    public static partial void ReceiverNotReady(ILogger logger, string service, RedactedEndpoint endpoint, string reason);

    [LoggerMessage(2202, LogLevel.Information, "The receiver of {Service} at {Endpoint} is draining and gets no further requests")]
    public static partial void ReceiverDrains(ILogger logger, string service, RedactedEndpoint endpoint);

    [LoggerMessage(2203, LogLevel.Warning, "The receiver of {Service} at {Endpoint} cannot be connected: {Reason}")]
    public static partial void ReceiverUnusable(ILogger logger, string service, RedactedEndpoint endpoint, string reason);

    [LoggerMessage(2204, LogLevel.Information, "The receiver of {Service} at {Endpoint} is no longer listed and was disconnected")]
    public static partial void ReceiverDisconnected(ILogger logger, string service, RedactedEndpoint endpoint);

    [LoggerMessage(2205, LogLevel.Warning,
        "{Count} messages that are not replies were dropped so far: the application receives messages too slowly, or not at all")]
    public static partial void UnreadMessagesDropped(ILogger logger, long count);
    [LoggerMessage(2206, LogLevel.Warning,
        "The receiver of {Service} at {Endpoint} left requests unanswered while other receivers answered; it gets no requests for "
        + "{Seconds} s")]
    public static partial void ReceiverEjected(ILogger logger, string service, RedactedEndpoint endpoint, double seconds);

    [LoggerMessage(2207, LogLevel.Information,
        "The receiver of {Service} at {Endpoint} did not answer a trial request; it gets no requests for {Seconds} s")]
    public static partial void ReceiverStaysEjected(ILogger logger, string service, RedactedEndpoint endpoint, double seconds);

    [LoggerMessage(2208, LogLevel.Information, "The receiver of {Service} at {Endpoint} answers again and gets requests again")]
    public static partial void ReceiverReadmitted(ILogger logger, string service, RedactedEndpoint endpoint);

    [LoggerMessage(2209, LogLevel.Warning, "The receiver of {Service} at {Endpoint} could not be reached: {Reason}. Dialling is retried")]
    public static partial void ReceiverNotReached(ILogger logger, string service, RedactedEndpoint endpoint, string reason);

    [LoggerMessage(2210, LogLevel.Warning,
        "{Service} has {Count} endpoints, but only {Limit} are connected at a time; another is connected when one fails or leaves")]
    public static partial void ServiceOverLimit(ILogger logger, string service, int count, int limit);

    [LoggerMessage(2150, LogLevel.Warning, "The DNS query of {Host} failed; the last known instances of {Service} are kept")]
    public static partial void QueryFailed(ILogger logger, Exception exception, string host, string service);

    [LoggerMessage(2151, LogLevel.Information, "The DNS query of {Host} works again: {Service} has {Count} instances")]
    public static partial void QueryWorksAgain(ILogger logger, string host, string service, int count);

    [LoggerMessage(2152, LogLevel.Warning, "{Endpoint} of {Service} cannot be connected")]
    public static partial void InstanceUnusable(ILogger logger, Exception exception, RedactedEndpoint endpoint, string service);
}

/// <summary>What a SPOT node logs: 2300 to 2399. Event ids are stable: a retired one is never used again.</summary>
internal static partial class SpotLog
{
    [LoggerMessage(2300, LogLevel.Error,
        "A subscriber's handler threw at a message of the topic {Topic}; it is called again with the next one")]
    public static partial void HandlerFailed(ILogger logger, Exception exception, string topic);

    [LoggerMessage(2301, LogLevel.Warning, "The node at {Endpoint} cannot be connected: {Reason}")]
    public static partial void PeerUnusable(ILogger logger, RedactedEndpoint endpoint, string reason);

    [LoggerMessage(2302, LogLevel.Information, "The node at {Endpoint} was added: {Why}")]
    public static partial void PeerAdded(ILogger logger, RedactedEndpoint endpoint, string why);

    [LoggerMessage(2303, LogLevel.Information,
        "The node at {Endpoint} was disconnected: neither the application nor a directory names it any longer")]
    public static partial void PeerRemoved(ILogger logger, RedactedEndpoint endpoint);

    [LoggerMessage(2304, LogLevel.Error, "The directory of SPOT nodes failed; its last list is kept")]
    public static partial void DirectoryFailed(ILogger logger, Exception exception);

    [LoggerMessage(2305, LogLevel.Warning, "A subscriber of {Topics} reads too slowly: {Dropped} messages were dropped so far")]
    public static partial void SubscriberDrops(ILogger logger, string topics, long dropped);

    [LoggerMessage(2306, LogLevel.Information,
        "The node at {Endpoint} is already connected at {Connected}; the second connection was ended, and its address is kept as an "
        + "alternate")]
    public static partial void PeerIsAlternate(ILogger logger, RedactedEndpoint endpoint, RedactedEndpoint connected);

    [LoggerMessage(2307, LogLevel.Warning,
        "Messages of the node at {Endpoint} may be missing: it was not connected from {From:O} to {Until:O}")]
    public static partial void GapBegan(ILogger logger, RedactedEndpoint endpoint, DateTimeOffset from, DateTimeOffset until);

    [LoggerMessage(2308, LogLevel.Warning,
        "The nodes at {Endpoint} and {Other} have the same configured routing id, {Id}, but count as two nodes: give each its own id, or "
        + "none")]
    public static partial void SameRoutingId(ILogger logger, RedactedEndpoint endpoint, RedactedEndpoint other, RoutingId id);
}
