namespace Net.Zlink.Protocol;

/// <summary>What of some bytes are whole frames. Broken: the frame behind them is longer than the limit, or no frame.</summary>
internal readonly record struct FrameScan(int Consumed, int Frames, int NextFrameSize, bool IsBroken, uint Announced);
