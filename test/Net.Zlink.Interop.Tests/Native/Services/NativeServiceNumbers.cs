namespace Net.Zlink.Interop.Tests.Native;

/// <summary>Which socket of a native service an option is for. Each kind of service counts its own sockets.</summary>
internal static class NativeRole
{
    public const int RegistryPublisher = 1;
    public const int RegistryRouter = 2;
    public const int RegistryPeers = 3;
    public const int Discovery = 1;
    public const int ReceiverRouter = 1;
    public const int ReceiverDealer = 2;
    public const int SpotNode = 0;
    public const int SpotPublisher = 1;
    public const int SpotSubscriber = 2;
    public const int SpotDealer = 3;
}

/// <summary>Options of <see cref="NativeRole.SpotNode"/>.</summary>
internal static class NativeSpotOption
{
    /// <summary>0: on the caller's thread; 1: through a queue.</summary>
    public const int PublishMode = 1;
    public const int PublishQueue = 2;

    /// <summary>0: fails with <see cref="NativeErrno.Again"/>; 1: drops.</summary>
    public const int PublishQueueFull = 3;
}
