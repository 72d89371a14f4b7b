/* tools/pyconfig.h: what Python's headers ask about a system, for extensions that keep to the limited API, which is the same
 * on all of them: how wide types are. Debian's headers know Linux alone; wheels for other systems are compiled with them and
 * this. */
#define SIZEOF_INT __SIZEOF_INT__
#define SIZEOF_LONG_LONG __SIZEOF_LONG_LONG__
#ifndef __APPLE__ /* its widths are in Python's pymacconfig.h */
#define SIZEOF_LONG __SIZEOF_LONG__
#define SIZEOF_SIZE_T __SIZEOF_SIZE_T__
#define SIZEOF_VOID_P __SIZEOF_POINTER__
#endif
#define SIZEOF_WCHAR_T __SIZEOF_WCHAR_T__
#define ALIGNOF_SIZE_T __SIZEOF_SIZE_T__
#define HAVE_LONG_LONG 1
#define HAVE_STDDEF_H 1
#ifdef _WIN32
#define MS_WINDOWS
#define MS_WIN64
#define Py_ENABLE_SHARED 1 /* its data come from a DLL */
#define HAVE_DECLSPEC_DLL 1
#else
#define HAVE_SYS_TYPES_H 1
#define HAVE_SYS_TIME_H 1
#define HAVE_SYS_STAT_H 1
#define HAVE_UNISTD_H 1
#define HAVE_SSIZE_T 1
#endif
