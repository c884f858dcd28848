using System.Net.Sockets;

namespace Net.Zlink.Transports.Tcp;

internal static class TcpSocketOptions
{
    // IPPROTO_IPV6 and IPV6_TCLASS, which the runtime has no names for. The second differs by system.
    private const int IPv6Level = 41;
    private const int LinuxTrafficClass = 67;
    private const int AppleTrafficClass = 36;

    private const int TcpLevel = 6;
    private const int LinuxUserTimeout = 18;
    private const int AppleConnectionDropTime = 0x80;
    private const int WindowsMaxRetransmitTime = 5;

    private const int LinuxSocketLevel = 1;
    private const int LinuxBindToDevice = 25;

    /// <summary>
    /// Accepted connections inherit the options on Linux, which a test verifies, so they cost nothing for each of 10,000 connections.
    /// </summary>
    public static bool AreInheritedByAccept { get; } = OperatingSystem.IsLinux();

    /// <summary>Before listen and connect, because buffer sizes affect the handshake.</summary>
    public static void ApplyTo(Socket socket, TcpSettings settings)
    {
        socket.NoDelay = true;
        settings.SetBuffersOf(socket);
        if (settings.KeepAlive >= 0)
        {
            ApplyKeepAlive(socket, settings);
        }

        if (settings.TypeOfService > 0)
        {
            ApplyTypeOfService(socket, settings.TypeOfService);
        }

        if (settings.MaxUnacknowledged > TimeSpan.Zero)
        {
            ApplyMaxUnacknowledged(socket, settings.MaxUnacknowledged);
        }

        if (settings.Device.Length > 0)
        {
            ApplyDevice(socket, settings.Device);
        }
    }

    private static void ApplyMaxUnacknowledged(Socket socket, TimeSpan time)
    {
        int milliseconds = (int)Math.Ceiling(time.TotalMilliseconds);
        int seconds = (int)Math.Ceiling(time.TotalSeconds);
        if (OperatingSystem.IsLinux())
        {
            socket.SetRawSocketOption(TcpLevel, LinuxUserTimeout, BitConverter.GetBytes(milliseconds));
        }
        else if (OperatingSystem.IsMacOS())
        {
            socket.SetRawSocketOption(TcpLevel, AppleConnectionDropTime, BitConverter.GetBytes(seconds));
        }
        else if (OperatingSystem.IsWindows())
        {
            socket.SetRawSocketOption(TcpLevel, WindowsMaxRetransmitTime, BitConverter.GetBytes(seconds));
        }
    }

    private static void ApplyDevice(Socket socket, string device)
    {
        if (!OperatingSystem.IsLinux())
        {
            // Using another interface than the requested one would be worse than failing.
            throw new SocketException((int)SocketError.ProtocolOption);
        }

        socket.SetRawSocketOption(LinuxSocketLevel, LinuxBindToDevice, System.Text.Encoding.UTF8.GetBytes(device));
    }

    private static void ApplyKeepAlive(Socket socket, TcpSettings settings)
    {
        socket.SetSocketOption(SocketOptionLevel.Socket, SocketOptionName.KeepAlive, settings.KeepAlive > 0);
        if (settings.KeepAlive == 0)
        {
            return;
        }

        Set(SocketOptionName.TcpKeepAliveRetryCount, settings.KeepAliveCount);
        Set(SocketOptionName.TcpKeepAliveTime, settings.KeepAliveIdleSeconds);
        Set(SocketOptionName.TcpKeepAliveInterval, settings.KeepAliveIntervalSeconds);

        void Set(SocketOptionName name, int value)
        {
            // 0 is a legal value that no system accepts: it means "unchanged", as -1 does.
            if (value > 0)
            {
                socket.SetSocketOption(SocketOptionLevel.Tcp, name, value);
            }
        }
    }

    private static void ApplyTypeOfService(Socket socket, int value)
    {
        if (socket.AddressFamily == AddressFamily.InterNetwork)
        {
            socket.SetSocketOption(SocketOptionLevel.IP, SocketOptionName.TypeOfService, value);
        }
        else if (OperatingSystem.IsLinux())
        {
            socket.SetRawSocketOption(IPv6Level, LinuxTrafficClass, BitConverter.GetBytes(value));
            socket.SetSocketOption(SocketOptionLevel.IP, SocketOptionName.TypeOfService, value);
        }
        else if (OperatingSystem.IsMacOS())
        {
            socket.SetRawSocketOption(IPv6Level, AppleTrafficClass, BitConverter.GetBytes(value));
        }
    }
}
