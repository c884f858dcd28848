namespace Net.Zlink.Services;

/// <summary>An answer to a REGISTER or UPDATE_WEIGHT. Without <paramref name="EchoesEndpoint"/> its endpoint frame is empty.</summary>
internal readonly record struct RegistryAck(byte Status, string Error = "", bool EchoesEndpoint = true)
{
    public const int EndpointFrame = 3;

    public static readonly RegistryAck Done = new(AckStatus.Done);
    public static readonly RegistryAck ServiceNotFound = new(AckStatus.NotFound, "service not found");
    public static readonly RegistryAck ProviderNotFound = new(AckStatus.NotFound, "provider not found");
    public static readonly RegistryAck ProviderNotLocal = new(AckStatus.NotFound, "provider not local");
    public static readonly RegistryAck InvalidEndpoint = new(AckStatus.Refused, "invalid endpoint");
    public static readonly RegistryAck NameTooLong = new(AckStatus.Refused, "service name or endpoint longer than 255 bytes");
    public static readonly RegistryAck RegistryFull = new(AckStatus.Refused, "registry full");
    public static readonly RegistryAck TooManyOwners = new(AckStatus.Refused, "registered by too many others");
    public static readonly RegistryAck NotOwner = new(AckStatus.Malformed, "not the owner");
    public static readonly RegistryAck InvalidRegister = new(AckStatus.Malformed, "invalid register", EchoesEndpoint: false);
    public static readonly RegistryAck InvalidUpdate = new(AckStatus.Malformed, "invalid update", EchoesEndpoint: false);
    public static readonly RegistryAck InvalidType = new(AckStatus.Malformed, "invalid type", EchoesEndpoint: false);
}

/// <summary>A request to a registry, decoded in the order of the native checks.</summary>
/// <param name="Id">REGISTER, UNREGISTER, HEARTBEAT or UPDATE_WEIGHT; 0 for a message that means nothing and is not answered.</param>
/// <param name="Entry">What it is about.</param>
/// <param name="Weight">1 or more.</param>
/// <param name="Fault">The answer to a malformed one, whose other fields mean nothing.</param>
internal readonly record struct RegistryRequest(ushort Id, EntryKey Entry = default, uint Weight = 1, RegistryAck? Fault = null)
{
    private const int KindFrame = 1;
    private const int ServiceFrame = 2;
    private const int EndpointFrame = RegistryAck.EndpointFrame;
    private const int WeightFrame = 4;

    public static RegistryRequest Read(in Frames frames)
    {
        if (!frames.TryReadUInt16(0, out ushort id))
        {
            return default;
        }

        return id switch
        {
            MessageIds.Register => ReadRegister(frames),
            MessageIds.UpdateWeight => ReadUpdateWeight(frames),
            // Of these the size of the kind counts alone, not its value.
            MessageIds.Unregister or MessageIds.Heartbeat
                when frames.Count > EndpointFrame && frames.TryReadUInt16(KindFrame, out ushort kind) => new(id, Key(frames, kind)),
            _ => default,
        };
    }

    private static RegistryRequest ReadRegister(in Frames frames) =>
        frames.Count <= EndpointFrame ? new(MessageIds.Register, Fault: RegistryAck.InvalidRegister)
        : !TryReadKind(frames, out ushort kind) ? new(MessageIds.Register, Fault: RegistryAck.InvalidType)
        : frames[ServiceFrame].IsEmpty || frames[EndpointFrame].IsEmpty ? new(MessageIds.Register, Fault: RegistryAck.InvalidEndpoint)
        : frames[ServiceFrame].Length > ServiceText.MaxLength || frames[EndpointFrame].Length > ServiceText.MaxLength
            ? new(MessageIds.Register, Fault: RegistryAck.NameTooLong)
        : new(MessageIds.Register, Key(frames, kind), frames.ReadWeight(WeightFrame));

    private static RegistryRequest ReadUpdateWeight(in Frames frames) =>
        frames.Count <= WeightFrame ? new(MessageIds.UpdateWeight, Fault: RegistryAck.InvalidUpdate)
        : !TryReadKind(frames, out ushort kind) ? new(MessageIds.UpdateWeight, Fault: RegistryAck.InvalidType)
        : new(MessageIds.UpdateWeight, Key(frames, kind), frames.ReadWeight(WeightFrame));

    private static bool TryReadKind(in Frames frames, out ushort kind) =>
        frames.TryReadUInt16(KindFrame, out kind) && kind is (ushort)ServiceKind.Receiver or (ushort)ServiceKind.SpotNode;

    private static EntryKey Key(in Frames frames, ushort kind) =>
        new(new ServiceKey(kind, new ServiceText(frames[ServiceFrame])), new ServiceText(frames[EndpointFrame]));
}
