namespace Net.Zlink.Extensions.Hosting;

/// <summary>How a host lets a receiver serve; the keys stand beside those of its options.</summary>
internal sealed class ServingSettings
{
    public int MaxConcurrency
    {
        get;
        set => field = OptionRange.InRange(value, 1);
    } = 64;

    public uint Weight
    {
        get;
        set => field = OptionRange.InRange(value, 1u);
    } = 1;

    public string? Advertise { get; set; }
}
