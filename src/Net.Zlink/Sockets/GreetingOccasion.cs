namespace Net.Zlink.Sockets;

internal enum GreetingOccasion
{
    /// <summary>The socket has attached the link, with or before its first connection.</summary>
    NewLink,

    /// <summary>The first connection of a link that was greeted before. That greeting is still queued, or was withdrawn.</summary>
    FirstConnection,

    /// <summary>A further connection of the link. Inproc: a link that waited for its binder, without subscriptions.</summary>
    NextConnection,
}
