namespace Net.Zlink.Services;

/// <summary>Why a receiver did not execute a request. The numbers are on the wire; applications choose theirs from 0x100 on.</summary>
internal static class RefusalCode
{
    public const ushort Draining = RequestEnvelope.DrainingCode;
    public const ushort NotServed = 2;
    public const ushort Expired = 3;
    public const ushort Stopped = 4;
}

/// <summary>Why an executed request failed. The numbers are on the wire.</summary>
internal static class FailureCode
{
    public const ushort HandlerThrew = 1;
    public const ushort NoReply = 2;
}
